//! The macro's arguments.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
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
    /// There if the whole effect is what is staged; an empty list of arguments.
    pub(crate) atomic: Option<TokenStream>,
    /// The function that undoes steps.
    pub(crate) undo: Option<TokenStream>,
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
        if let Some(atomic) = self.atomic {
            for (value, why) in [
                (self.on_abandoned.as_ref().or(self.probe.as_ref()), diagnostics::ATOMIC_IS_NEVER_ABANDONED),
                (self.undo.as_ref(), diagnostics::ATOMIC_HAS_NO_STEPS),
                (self.in_flight.as_ref(), diagnostics::ATOMIC_IS_NEVER_IN_FLIGHT),
            ] {
                if value.is_some() {
                    errors.push(Error::new(atomic, why));
                }
            }
        }
        let fingerprint_exclude =
            errors.take(self.fingerprint_exclude.as_ref().map(lists::fingerprint_exclude).transpose());
        Some(Arguments {
            operation: operation?,
            version: version?,
            on_abandoned: on_abandoned?,
            probe: self.probe.map(|probe| quote!(#probe)),
            atomic: self.atomic.map(|_| TokenStream::new()),
            undo: self.undo.map(|undo| quote!(#undo)),
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

impl Arguments {
    /// The choices that all kinds of handlers have.
    pub(crate) fn choices(&self) -> [(&'static str, Option<TokenStream>); 5] {
        [
            ("window", self.window.clone()),
            ("on_abandoned", self.on_abandoned.as_ref().map(|value| value.choice.clone())),
            ("atomic", self.atomic.clone()),
            ("undo", self.undo.as_ref().map(|_| TokenStream::new())),
            ("fingerprint_exclude", self.fingerprint_exclude.clone()),
        ]
    }

    /// What undoes steps.
    pub(crate) fn undoing(&self) -> TokenStream {
        match &self.undo {
            Some(undo) => quote_spanned!(undo.span()=> ::lambda_idempotency::__private::undo(#undo)),
            None => quote!(::lambda_idempotency::__private::no_undo),
        }
    }

    /// Shared state may be there for the probe or the undoing only.
    pub(crate) fn unused(&self) -> Option<TokenStream> {
        (self.probe().is_some() || self.undo.is_some()).then(|| quote!(#[allow(unused_variables)]))
    }
}

pub(crate) fn required(value: Option<Expr>, missing: &str) -> Result<Expr> {
    value.ok_or_else(|| Error::new(Span::call_site(), missing))
}

/// The expression that a `macro_rules!` macro has put in.
fn bare(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => bare(*group.expr),
        value => value,
    }
}

fn operation(value: Expr) -> Result<LitStr> {
    let span = value.span();
    match bare(value) {
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
    match bare(value) {
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
