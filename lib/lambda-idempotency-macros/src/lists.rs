//! Arguments that are lists of string literals.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprArray, ExprLit, Lit, LitStr, Result, spanned::Spanned};

use crate::diagnostics;

/// An expression of type `[JsonPointer; N]`.
pub(crate) fn fingerprint_exclude(value: &Expr) -> Result<TokenStream> {
    let pointers = strings(value, diagnostics::FINGERPRINT_EXCLUDE, diagnostics::NO_FINGERPRINT_EXCLUDE)?;
    for pointer in &pointers {
        check_pointer(&pointer.value()).map_err(|message| Error::new(pointer.span(), message))?;
    }
    Ok(quote!([#(const { ::lambda_idempotency::JsonPointer::declare(#pointers) }),*]))
}

/// As `idempotency_core::JsonPointer::declare` checks it, which would find the mistake later and say it less well.
fn check_pointer(pointer: &str) -> std::result::Result<(), &'static str> {
    if pointer.is_empty() {
        return Err(diagnostics::POINTER_ROOT);
    }
    if !pointer.starts_with('/') {
        return Err(diagnostics::POINTER_SLASH);
    }
    if pointer.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
        return Err(diagnostics::POINTER_ESCAPE);
    }
    Ok(())
}

/// An expression of type `[ReplayHeader; N]`.
pub(crate) fn replay_headers(value: &Expr) -> Result<TokenStream> {
    let names = strings(value, diagnostics::REPLAY_HEADERS, diagnostics::NO_REPLAY_HEADERS)?;
    let headers = names.iter().map(|name| match name.value().to_ascii_lowercase().as_str() {
        "set-cookie" => Ok(quote!(::lambda_idempotency::http::ReplayHeader::SetCookie)),
        "date" => Ok(quote!(::lambda_idempotency::http::ReplayHeader::Date)),
        "connection" | "keep-alive" | "proxy-connection" | "proxy-authenticate" | "te" | "trailer"
        | "transfer-encoding" | "upgrade" | "content-length" => {
            Err(Error::new(name.span(), diagnostics::HEADER_OF_A_CONNECTION))
        }
        _ => Err(Error::new(name.span(), diagnostics::HEADER_REPLAYED_ANYWAY)),
    });
    let headers = headers.collect::<Result<Vec<_>>>()?;
    Ok(quote!([#(#headers),*]))
}

/// The elements of a list of string literals that is not empty.
fn strings(value: &Expr, no_list: &str, empty: &str) -> Result<Vec<LitStr>> {
    let Expr::Array(ExprArray { elems, .. }) = value else {
        return Err(Error::new(value.span(), no_list));
    };
    if elems.is_empty() {
        return Err(Error::new(value.span(), empty));
    }
    let strings = elems.iter().map(|element| match element {
        Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) => Ok(string.clone()),
        other => Err(Error::new(other.span(), no_list)),
    });
    strings.collect()
}
