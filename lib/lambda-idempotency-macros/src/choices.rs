//! Arguments that choose what happens: `on_abandoned`, `in_flight`, `retain`, `on_poison`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprArray, ExprCall, ExprLit, Lit, Result, spanned::Spanned};

use crate::diagnostics;

/// What happens after a lost attempt.
pub(crate) struct OnAbandoned {
    /// An expression of type `OnAbandoned`.
    pub(crate) choice: TokenStream,
    /// The function to ask, of `probe(…)`.
    pub(crate) probe: Option<TokenStream>,
    /// Whether it can never be `OnAbandoned::Probe`.
    pub(crate) never_asks: bool,
}

/// `rerun`, `reject` and `probe(f)` mean the variants of `OnAbandoned`; anything else is the user's expression.
pub(crate) fn on_abandoned(value: &Expr) -> Result<OnAbandoned> {
    let on_abandoned = quote!(::lambda_idempotency::OnAbandoned);
    let (choice, probe) = match (name(value), call(value)) {
        (Some("rerun"), _) => (quote!(#on_abandoned::Rerun), None),
        (Some("reject"), _) => (quote!(#on_abandoned::Reject), None),
        (Some("probe"), _) => return Err(Error::new(value.span(), diagnostics::PROBE_OF_WHAT)),
        (_, Some(("probe", arguments))) => {
            let probe = only(arguments, diagnostics::PROBE_OF_WHAT)?;
            (quote!(#on_abandoned::Probe), Some(quote!(#probe)))
        }
        _ => (quote!(#value), None),
    };
    let never_asks = matches!(name(value), Some("rerun" | "reject"));
    Ok(OnAbandoned { choice, probe, never_asks })
}

/// `conflict`, `wait(max)` and `accepted` mean the variants of `InFlight`; anything else is the user's expression.
pub(crate) fn in_flight(value: &Expr) -> Result<TokenStream> {
    let in_flight = quote!(::lambda_idempotency::http::InFlight);
    Ok(match (name(value), call(value)) {
        (Some("conflict"), _) => quote!(#in_flight::Conflict),
        (Some("accepted"), _) => quote!(#in_flight::Accepted),
        (Some("wait"), _) => return Err(Error::new(value.span(), diagnostics::WAIT_HOW_LONG)),
        (_, Some(("wait", arguments))) => {
            let max = only(arguments, diagnostics::WAIT_HOW_LONG)?;
            quote!(#in_flight::Wait(#max))
        }
        _ => quote!(#value),
    })
}

/// `report` and `skip` mean the variants of `OnPoison`; anything else is the user's expression.
pub(crate) fn on_poison(value: &Expr) -> TokenStream {
    let on_poison = quote!(::lambda_idempotency::events::OnPoison);
    match name(value) {
        Some("report") => quote!(#on_poison::Report),
        Some("skip") => quote!(#on_poison::Skip),
        _ => quote!(#value),
    }
}

/// `conflict` and `wait(max)` for a function: an expression of type `Duration`, or nothing. `accepted` is for HTTP.
pub(crate) fn wait(value: &Expr, accepted: &str) -> Result<Option<TokenStream>> {
    match (name(value), call(value)) {
        (Some("conflict"), _) => Ok(None),
        (Some("wait"), _) => Err(Error::new(value.span(), diagnostics::WAIT_HOW_LONG)),
        (_, Some(("wait", arguments))) => {
            let max = only(arguments, diagnostics::WAIT_HOW_LONG)?;
            Ok(Some(quote!(#max)))
        }
        (Some("accepted"), _) => Err(Error::new(value.span(), accepted)),
        _ => Err(Error::new(value.span(), diagnostics::IN_FLIGHT_OF_FUNCTION)),
    }
}

/// `[2xx, 4xx]`, as an expression of type `Retain`.
pub(crate) fn retain(value: &Expr) -> Result<TokenStream> {
    let Expr::Array(ExprArray { elems, .. }) = value else {
        return Err(Error::new(value.span(), diagnostics::RETAIN));
    };
    if elems.is_empty() {
        return Err(Error::new(value.span(), diagnostics::RETAIN_NOTHING));
    }
    let classes = elems.iter().map(|element| match element {
        Expr::Lit(ExprLit { lit: Lit::Int(class), .. })
            if class.suffix() == "xx" && matches!(class.base10_digits(), "1" | "2" | "3" | "4" | "5") =>
        {
            class.base10_parse::<u8>()
        }
        other => Err(Error::new(other.span(), diagnostics::RETAIN)),
    });
    let classes = classes.collect::<Result<Vec<_>>>()?;
    Ok(quote!(const { ::lambda_idempotency::http::Retain::classes([#(#classes),*]) }))
}

/// A bare word.
fn name(value: &Expr) -> Option<&'static str> {
    let Expr::Path(path) = value else { return None };
    let words = ["rerun", "reject", "probe", "conflict", "wait", "accepted", "report", "skip"];
    words.into_iter().find(|word| path.path.is_ident(word))
}

/// A bare word that is called.
fn call(value: &Expr) -> Option<(&'static str, &ExprCall)> {
    let Expr::Call(call) = value else { return None };
    Some((name(&call.func)?, call))
}

fn only<'a>(call: &'a ExprCall, otherwise: &str) -> Result<&'a Expr> {
    match call.args.first() {
        Some(argument) if call.args.len() == 1 => Ok(argument),
        _ => Err(Error::new(call.span(), otherwise)),
    }
}
