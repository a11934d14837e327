//! The arguments of a function with a key.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, Result, spanned::Spanned};

use crate::{
    arguments::{Errors, required},
    choices,
    collected::Collected,
    diagnostics,
    http_arguments::is_source,
    key::{self, Key},
};

/// What only functions have.
pub(crate) struct FunctionArguments {
    pub(crate) key: Key,
    /// An expression of a type that implements `IntoScope`.
    pub(crate) scope: TokenStream,
    /// How long a duplicate waits: an expression of type `Duration`.
    pub(crate) wait: Option<TokenStream>,
    /// An expression of type `EpochMillis`.
    pub(crate) deadline: Option<TokenStream>,
}

pub(crate) fn check(collected: &mut Collected, errors: &mut Errors) -> Option<FunctionArguments> {
    let key = errors.take(required(collected.key.take(), diagnostics::KEY_OF_NOTHING).and_then(|key| key::key(&key)));
    let given = required(collected.scope.take(), diagnostics::SCOPE_OF_FUNCTION_MISSING);
    let scope = errors.take(given.and_then(|given| scope(given, diagnostics::SCOPE_OF_HTTP)));
    let in_flight = collected.in_flight.as_ref();
    let wait = errors.take(in_flight.map(|value| choices::wait(value, diagnostics::ACCEPTED_OF_FUNCTION)).transpose());
    for value in collected.of_event() {
        errors.push(Error::new(value.span(), diagnostics::OF_EVENT));
    }
    for (of_http, why) in [
        (&collected.methods, diagnostics::METHODS_OF_FUNCTION),
        (&collected.replay_headers, diagnostics::REPLAY_HEADERS_OF_FUNCTION),
        (&collected.retain, diagnostics::RETAIN_OF_FUNCTION),
    ] {
        if let Some(value) = of_http {
            errors.push(Error::new(value.span(), why));
        }
    }
    Some(FunctionArguments {
        key: key?,
        scope: scope?,
        wait: wait?.flatten(),
        deadline: collected.deadline.take().map(|deadline| quote!(#deadline)),
    })
}

/// `none` and `tenant(…)` mean the functions of `Scope`; anything else is the user's expression, but for one that is for HTTP.
pub(crate) fn scope(value: Expr, of_http: &str) -> Result<TokenStream> {
    let scope = quote!(::lambda_idempotency::Scope);
    Ok(match &value {
        Expr::Path(path) if path.path.is_ident("none") => quote!(#scope::none()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if is_source(&path.path) => {
                return Err(Error::new(path.span(), of_http));
            }
            Expr::Path(path) if path.path.is_ident("tenant") => quote!(#scope::#value),
            _ => quote!(#value),
        },
        _ => quote!(#value),
    })
}
