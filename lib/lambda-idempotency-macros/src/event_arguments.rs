//! The arguments of a function of records.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprLit, Lit, Result, spanned::Spanned};

use crate::{
    arguments::{Errors, required},
    choices,
    collected::Collected,
    diagnostics,
    function_arguments::scope,
    key::{self, Key},
    trigger::{Trigger, trigger},
};

/// What only functions of records have.
pub(crate) struct EventArguments {
    /// A path that is both a type that implements `Source` and its only value.
    pub(crate) source: TokenStream,
    /// The business key.
    pub(crate) key: Option<Key>,
    /// An expression of a type that implements `IntoScope`.
    pub(crate) scope: TokenStream,
    /// How long a duplicate waits: an expression of type `Duration`.
    pub(crate) wait: Option<TokenStream>,
    /// How many records are carried out side by side: an expression of type `usize`.
    pub(crate) concurrency: Option<TokenStream>,
    /// An expression of type `Duration`.
    pub(crate) linger: Option<TokenStream>,
    /// An expression of type `OnPoison`.
    pub(crate) on_poison: Option<TokenStream>,
    /// There if records are kept in order by their keys; an empty list of arguments.
    pub(crate) order_by_key: Option<TokenStream>,
}

pub(crate) fn check(collected: &mut Collected, errors: &mut Errors) -> Option<EventArguments> {
    let trigger = errors.take(trigger(&collected.words, collected.source.as_ref()));
    let key = errors.take(collected.key.as_ref().map(key::key).transpose());
    let given = required(collected.scope.take(), diagnostics::SCOPE_OF_EVENT_MISSING);
    let scope = errors.take(given.and_then(|given| scope(given, diagnostics::SCOPE_OF_HTTP_FOR_EVENT)));
    let in_flight = collected.in_flight.as_ref();
    let wait = errors.take(in_flight.map(|value| choices::wait(value, diagnostics::ACCEPTED_OF_EVENT)).transpose());
    let concurrency = errors.take(collected.concurrency.as_ref().map(concurrency).transpose());
    let on_poison = collected.on_poison.as_ref().map(choices::on_poison);
    let by_key = errors.take(collected.order.as_ref().map(|order| is_by_key(order, trigger.as_ref())).transpose());
    for (of_others, why) in [
        (&collected.methods, diagnostics::METHODS_OF_EVENT),
        (&collected.replay_headers, diagnostics::REPLAY_HEADERS_OF_EVENT),
        (&collected.retain, diagnostics::RETAIN_OF_EVENT),
        (&collected.deadline, diagnostics::DEADLINE_OF_EVENT),
    ] {
        if let Some(value) = of_others {
            errors.push(Error::new(value.span(), why));
        }
    }
    Some(EventArguments {
        source: trigger?.source,
        key: key?,
        scope: scope?,
        wait: wait?.flatten(),
        concurrency: concurrency?,
        linger: collected.linger.as_ref().map(|linger| quote!(#linger)),
        on_poison,
        order_by_key: by_key?.filter(|by_key| *by_key).map(|_| TokenStream::new()),
    })
}

/// At least one, where it can be seen.
fn concurrency(value: &Expr) -> Result<TokenStream> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(records), .. }) if records.base10_digits() == "0" => {
            Err(Error::new(value.span(), diagnostics::CONCURRENCY))
        }
        _ => Ok(quote!(#value)),
    }
}

/// `source` or `key`.
fn is_by_key(value: &Expr, trigger: Option<&Trigger>) -> Result<bool> {
    let is = |word| matches!(value, Expr::Path(path) if path.path.is_ident(word));
    if !is("source") && !is("key") {
        return Err(Error::new(value.span(), diagnostics::ORDER));
    }
    match trigger {
        Some(trigger) if !trigger.has_keys => Err(Error::new(value.span(), diagnostics::ORDER_WITHOUT_KEYS)),
        _ => Ok(is("key")),
    }
}
