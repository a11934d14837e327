//! The arguments of an HTTP handler.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprArray, Path, Result, spanned::Spanned};

use crate::{
    arguments::{Errors, required},
    choices,
    collected::Collected,
    diagnostics, lists,
};

/// What only HTTP handlers have.
pub(crate) struct HttpArguments {
    /// An expression of type `ScopeSource`.
    pub(crate) scope: TokenStream,
    /// An expression of type `InFlight`.
    pub(crate) in_flight: Option<TokenStream>,
    /// An expression of type `Retain`.
    pub(crate) retain: Option<TokenStream>,
    /// An expression of type `[Method; N]`.
    pub(crate) methods: Option<TokenStream>,
    /// An expression of type `[ReplayHeader; N]`.
    pub(crate) replay_headers: Option<TokenStream>,
}

pub(crate) fn check(collected: &mut Collected, errors: &mut Errors) -> Option<HttpArguments> {
    let scope = errors.take(required(collected.scope.take(), diagnostics::SCOPE_MISSING).and_then(scope_source));
    let in_flight = errors.take(collected.in_flight.as_ref().map(choices::in_flight).transpose());
    let retain = errors.take(collected.retain.as_ref().map(choices::retain).transpose());
    let methods = errors.take(collected.methods.take().map(methods).transpose());
    let replay_headers = errors.take(collected.replay_headers.as_ref().map(lists::replay_headers).transpose());
    if let Some(deadline) = &collected.deadline {
        errors.push(Error::new(deadline.span(), diagnostics::DEADLINE_OF_HTTP));
    }
    for value in collected.of_event() {
        errors.push(Error::new(value.span(), diagnostics::OF_EVENT));
    }
    Some(HttpArguments {
        scope: scope?,
        in_flight: in_flight?,
        retain: retain?,
        methods: methods?,
        replay_headers: replay_headers?,
    })
}

/// `jwt_claim("sub")` and its siblings mean the functions of `http::scope`; anything else is the user's expression.
fn scope_source(value: Expr) -> Result<TokenStream> {
    let scope = quote!(::lambda_idempotency::http::scope);
    Ok(match &value {
        Expr::Path(path) if path.path.is_ident("none") => quote!(#scope::none()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.is_ident("tenant") => {
                return Err(Error::new(path.span(), diagnostics::SCOPE_OF_FUNCTION));
            }
            Expr::Path(path) if is_source(&path.path) => quote!(#scope::#value),
            _ => quote!(#value),
        },
        _ => quote!(#value),
    })
}

/// The functions of `http::scope` that take their name alone.
const SCOPE_SOURCES: [&str; 7] =
    ["jwt_claim", "authorizer", "api_key_id", "iam_caller", "load_balancer_identity", "header", "custom"];

/// What reads a scope from a request.
pub(crate) fn is_source(path: &Path) -> bool {
    SCOPE_SOURCES.iter().any(|name| path.is_ident(name))
}

fn methods(value: Expr) -> Result<TokenStream> {
    let Expr::Array(ExprArray { elems, .. }) = &value else {
        return Err(Error::new(value.span(), diagnostics::METHODS));
    };
    if elems.is_empty() {
        return Err(Error::new(value.span(), diagnostics::NO_METHODS));
    }
    let names = elems.iter().map(|method| match method {
        Expr::Path(path) => path.path.require_ident().map_err(|error| Error::new(error.span(), diagnostics::METHODS)),
        other => Err(Error::new(other.span(), diagnostics::METHODS)),
    });
    let names = names.collect::<Result<Vec<_>>>()?;
    Ok(quote!([#(::lambda_idempotency::__private::Method::#names),*]))
}
