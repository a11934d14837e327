//! One of the macro's arguments, as it is written.

use proc_macro2::{Span, TokenTree};
use syn::{
    Expr, Ident, Lit, Result, Token,
    parse::{Parse, ParseStream},
};

/// One of the macro's arguments, as it is written.
pub(crate) enum Written {
    /// `name = value`.
    Argument(Ident, Expr),
    /// A trigger.
    Word(Word),
}

/// A word that stands alone, with what belongs to it by mistake: `event-bridge`, `sq s`.
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        if input.peek(Token![=]) || input.peek(Lit) {
            input.parse::<Token![=]>()?;
            return Ok(Self::Argument(name, input.parse()?));
        }
        let (mut text, mut span) = (name.to_string(), name.span());
        while input.peek(Token![-]) || (input.peek(Ident) && !input.peek2(Token![=])) {
            let token: TokenTree = input.parse()?;
            text.push_str(&token.to_string());
            span = span.join(token.span()).unwrap_or(span);
        }
        Ok(Self::Word(Word { text, span }))
    }
}
