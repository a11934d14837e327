//! The macro's arguments.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Expr, ExprLit, Lit, LitInt, LitStr, Result,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

use crate::{
    choices::{self, OnAbandoned},
    collected::Collected,
    diagnostics,
    event_arguments::{self, EventArguments},
    function_arguments::{self, FunctionArguments},
    http_arguments::{self, HttpArguments},
    kind::Kind,
    lists,
};

/// The macro's arguments, checked.
pub(crate) struct Arguments {
    pub(crate) operation: LitStr,
    pub(crate) version: LitInt,
    pub(crate) on_abandoned: Option<OnAbandoned>,
    /// The function to ask about a lost attempt, where `on_abandoned` is an expression.
    pub(crate) probe: Option<TokenStream>,
    /// An expression of type `Window`.
    pub(crate) window: Option<TokenStream>,
    /// An expression of type `[JsonPointer; N]`.
    pub(crate) fingerprint_exclude: Option<TokenStream>,
    /// What belongs to the kind of handler.
    pub(crate) of_kind: OfKind,
}

/// The arguments of one kind of handler.
pub(crate) enum OfKind {
    Http(HttpArguments),
    Function(FunctionArguments),
    Event(EventArguments),
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut collected = Collected::default();
        let mut errors = Errors::default();
        collected.read(input, &mut errors)?;
        let arguments = collected.check(&mut errors);
        errors.finish()?;
        // Without an error every argument is there.
        arguments.ok_or_else(|| Error::new(Span::call_site(), diagnostics::OPERATION_MISSING))
    }
}

impl Collected {
    fn check(mut self, errors: &mut Errors) -> Option<Arguments> {
        let operation =
            errors.take(required(self.operation.take(), diagnostics::OPERATION_MISSING).and_then(operation));
        let version = errors.take(required(self.version.take(), diagnostics::VERSION_MISSING).and_then(version));
        let of_kind = match self.kind() {
            Kind::Event => event_arguments::check(&mut self, errors).map(OfKind::Event),
            Kind::Function => function_arguments::check(&mut self, errors).map(OfKind::Function),
            Kind::Http => http_arguments::check(&mut self, errors).map(OfKind::Http),
        };
        let on_abandoned = errors.take(self.on_abandoned.as_ref().map(choices::on_abandoned).transpose());
        match (&self.probe, &on_abandoned) {
            (Some(probe), Some(Some(OnAbandoned { probe: Some(_), .. }))) => {
                errors.push(Error::new(probe.span(), diagnostics::TWO_PROBES));
            }
            (Some(probe), Some(None | Some(OnAbandoned { never_asks: true, .. }))) => {
                errors.push(Error::new(probe.span(), diagnostics::PROBE_WITHOUT_POLICY));
            }
            _ => {}
        }
        let fingerprint_exclude =
            errors.take(self.fingerprint_exclude.as_ref().map(lists::fingerprint_exclude).transpose());
        Some(Arguments {
            operation: operation?,
            version: version?,
            on_abandoned: on_abandoned?,
            probe: self.probe.map(|probe| quote!(#probe)),
            window: self.window.map(|window| quote!(#window)),
            fingerprint_exclude: fingerprint_exclude?,
            of_kind: of_kind?,
        })
    }
}

impl Arguments {
    /// The probe, wherever it is said.
    pub(crate) fn probe(&self) -> Option<&TokenStream> {
        self.probe.as_ref().or_else(|| self.on_abandoned.as_ref()?.probe.as_ref())
    }
}

pub(crate) fn required(value: Option<Expr>, missing: &str) -> Result<Expr> {
    value.ok_or_else(|| Error::new(Span::call_site(), missing))
}

fn operation(value: Expr) -> Result<LitStr> {
    let span = value.span();
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if is_plain_name(&name.value()) => Ok(name),
        _ => Err(Error::new(span, diagnostics::OPERATION_LITERAL)),
    }
}

/// As `idempotency_core::Operation::declare` checks it, which would find the mistake later and say it less well.
fn is_plain_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn version(value: Expr) -> Result<LitInt> {
    let span = value.span();
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(version), .. })
            if version.base10_parse().is_ok_and(|version: u32| version > 0) =>
        {
            Ok(version)
        }
        _ => Err(Error::new(span, diagnostics::VERSION_LITERAL)),
    }
}

/// Errors collected, so that the user sees all of them at once.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            None => self.0 = Some(error),
            Some(errors) => errors.combine(error),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
