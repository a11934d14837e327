//! The kinds of handlers.

use proc_macro2::TokenStream;

use crate::collected::Collected;

/// The kind of handler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An HTTP handler, whose key comes with the request.
    Http,
    /// Any function with a key.
    Function,
    /// A function of one record, with a trigger.
    Event,
}

impl Kind {
    /// The kind, by arguments that may be faulty otherwise.
    pub(crate) fn of(arguments: &TokenStream) -> Self {
        match Collected::of(arguments).kind() {
            Self::Http if has_key(arguments) => Self::Function,
            kind => kind,
        }
    }
}

impl Collected {
    /// The kind that these arguments make.
    pub(crate) fn kind(&self) -> Kind {
        match (&self.key, &self.source) {
            (_, Some(_)) => Kind::Event,
            _ if !self.words.is_empty() => Kind::Event,
            (Some(_), None) => Kind::Function,
            (None, None) => Kind::Http,
        }
    }
}

/// Whether a key stands anywhere, behind a mistake too.
fn has_key(arguments: &TokenStream) -> bool {
    let words: Vec<_> = arguments.clone().into_iter().map(|token| token.to_string()).collect();
    words.windows(2).any(|pair| matches!(pair, [name, sign] if name == "key" && sign == "="))
}
