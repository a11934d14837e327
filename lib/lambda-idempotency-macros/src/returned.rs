//! What a handler returns.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Error, GenericArgument, Ident, PathArguments, Result, Type, spanned::Spanned};

use crate::diagnostics;

/// A result type, and its halves where they are written.
pub(crate) struct Returned {
    ty: Type,
    halves: Option<(Type, Type)>,
}

impl Returned {
    pub(crate) fn new(ty: &Type) -> Self {
        Self { ty: ty.clone(), halves: halves(ty) }
    }

    /// The value's and the error's type.
    pub(crate) fn types(&self) -> (TokenStream, TokenStream) {
        match &self.halves {
            Some((value, error)) => (value.to_token_stream(), error.to_token_stream()),
            None => {
                let ty = &self.ty;
                let half = |name| {
                    let name = Ident::new(name, ty.span());
                    quote_spanned!(ty.span()=> <#ty as ::lambda_idempotency::__private::Returned>::#name)
                };
                (half("Value"), half("Error"))
            }
        }
    }

    /// A function with these types as arguments. It has the type's place, so that the compiler's complaint points there even where
    /// only an alias is written.
    pub(crate) fn asked_for(&self, function: &TokenStream) -> TokenStream {
        let (value, error) = self.types();
        let function: TokenStream = function
            .clone()
            .into_iter()
            .map(|mut token| {
                token.set_span(self.ty.span());
                token
            })
            .collect();
        quote_spanned!(self.ty.span()=> #function::<#value, #error>())
    }

    /// Refuses what is seen to be borrowed.
    pub(crate) fn check_owned(&self) -> Result<()> {
        match &self.halves {
            Some((value, error)) => check_owned(value).and_then(|()| check_owned(error)),
            None => check_owned(&self.ty),
        }
    }
}

/// The two arguments of `Result<R, E>`; an alias may have others.
fn halves(ty: &Type) -> Option<(Type, Type)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    match (types.next()??, types.next()??, types.next()) {
        (value, error, None) => Some((value, error)),
        _ => None,
    }
}

fn check_owned(ty: &Type) -> Result<()> {
    if is_borrowed(ty.to_token_stream()) { Err(Error::new_spanned(ty, diagnostics::BORROWED_RESULT)) } else { Ok(()) }
}

/// Whether there is a reference, or a lifetime that is not `'static`.
fn is_borrowed(tokens: TokenStream) -> bool {
    let mut after_quote = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => is_borrowed(group.stream()),
        TokenTree::Punct(punct) => {
            after_quote = punct.as_char() == '\'';
            punct.as_char() == '&'
        }
        TokenTree::Ident(name) => std::mem::take(&mut after_quote) && name != "static",
        TokenTree::Literal(_) => false,
    })
}
