//! The macro's arguments.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Expr, ExprArray, ExprLit, Ident, Lit, LitInt, LitStr, Path, Result, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

use crate::{
    choices::{self, OnAbandoned},
    diagnostics, lists,
};

/// The macro's arguments, checked.
pub(crate) struct Arguments {
    pub(crate) operation: LitStr,
    pub(crate) version: LitInt,
    /// An expression of type `ScopeSource`.
    pub(crate) scope: TokenStream,
    pub(crate) on_abandoned: Option<OnAbandoned>,
    /// The function to ask about a lost attempt, where `on_abandoned` is an expression.
    pub(crate) probe: Option<TokenStream>,
    /// An expression of type `InFlight`.
    pub(crate) in_flight: Option<TokenStream>,
    /// An expression of type `Retain`.
    pub(crate) retain: Option<TokenStream>,
    /// An expression of type `Window`.
    pub(crate) window: Option<TokenStream>,
    /// An expression of type `[Method; N]`.
    pub(crate) methods: Option<TokenStream>,
    /// An expression of type `[JsonPointer; N]`.
    pub(crate) fingerprint_exclude: Option<TokenStream>,
    /// An expression of type `[ReplayHeader; N]`.
    pub(crate) replay_headers: Option<TokenStream>,
}

#[derive(Default)]
struct Collected {
    operation: Option<Expr>,
    version: Option<Expr>,
    scope: Option<Expr>,
    on_abandoned: Option<Expr>,
    probe: Option<Expr>,
    in_flight: Option<Expr>,
    retain: Option<Expr>,
    window: Option<Expr>,
    methods: Option<Expr>,
    fingerprint_exclude: Option<Expr>,
    replay_headers: Option<Expr>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut collected = Collected::default();
        let mut errors = Errors::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let value: Expr = input.parse()?;
            errors.take(collected.put(&name, value));
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let arguments = collected.check(&mut errors);
        errors.finish()?;
        // Without an error every argument is there.
        arguments.ok_or_else(|| Error::new(Span::call_site(), diagnostics::OPERATION_MISSING))
    }
}

impl Collected {
    fn put(&mut self, name: &Ident, value: Expr) -> Result<()> {
        let place = match name.to_string().as_str() {
            "operation" => &mut self.operation,
            "version" => &mut self.version,
            "scope" => &mut self.scope,
            "on_abandoned" => &mut self.on_abandoned,
            "probe" => &mut self.probe,
            "in_flight" => &mut self.in_flight,
            "retain" => &mut self.retain,
            "window" => &mut self.window,
            "methods" => &mut self.methods,
            "fingerprint_exclude" => &mut self.fingerprint_exclude,
            "replay_headers" => &mut self.replay_headers,
            _ => return Err(Error::new(name.span(), diagnostics::UNKNOWN_ARGUMENT)),
        };
        match place.replace(value) {
            None => Ok(()),
            Some(_) => Err(Error::new(name.span(), diagnostics::TWICE)),
        }
    }

    fn check(self, errors: &mut Errors) -> Option<Arguments> {
        let operation = errors.take(required(self.operation, diagnostics::OPERATION_MISSING).and_then(operation));
        let version = errors.take(required(self.version, diagnostics::VERSION_MISSING).and_then(version));
        let scope = errors.take(required(self.scope, diagnostics::SCOPE_MISSING));
        let on_abandoned = errors.take(self.on_abandoned.as_ref().map(choices::on_abandoned).transpose());
        if let (Some(probe), Some(Some(OnAbandoned { probe: Some(_), .. }))) = (&self.probe, &on_abandoned) {
            errors.push(Error::new(probe.span(), diagnostics::TWO_PROBES));
        }
        let in_flight = errors.take(self.in_flight.as_ref().map(choices::in_flight).transpose());
        let retain = errors.take(self.retain.as_ref().map(choices::retain).transpose());
        let methods = errors.take(self.methods.map(methods).transpose());
        let fingerprint_exclude =
            errors.take(self.fingerprint_exclude.as_ref().map(lists::fingerprint_exclude).transpose());
        let replay_headers = errors.take(self.replay_headers.as_ref().map(lists::replay_headers).transpose());
        Some(Arguments {
            operation: operation?,
            version: version?,
            scope: scope_source(scope?),
            on_abandoned: on_abandoned?,
            probe: self.probe.map(|probe| quote!(#probe)),
            in_flight: in_flight?,
            retain: retain?,
            window: self.window.map(|window| quote!(#window)),
            methods: methods?,
            fingerprint_exclude: fingerprint_exclude?,
            replay_headers: replay_headers?,
        })
    }
}

fn required(value: Option<Expr>, missing: &str) -> Result<Expr> {
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

/// The functions of `http::scope` that take their name alone.
const SCOPE_SOURCES: [&str; 7] =
    ["jwt_claim", "authorizer", "api_key_id", "iam_caller", "load_balancer_identity", "header", "custom"];

/// `jwt_claim("sub")` and its siblings mean the functions of `http::scope`; anything else is the user's expression.
fn scope_source(value: Expr) -> TokenStream {
    let scope = quote!(::lambda_idempotency::http::scope);
    match &value {
        Expr::Path(path) if path.path.is_ident("none") => quote!(#scope::none()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if is_one_of(&path.path, &SCOPE_SOURCES) => {
                quote!(#scope::#value)
            }
            _ => quote!(#value),
        },
        _ => quote!(#value),
    }
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

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.is_ident(name))
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
