//! The macro's arguments.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Expr, ExprArray, ExprLit, Ident, Lit, LitInt, LitStr, Path, Result, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

use crate::diagnostics;

/// The macro's arguments, checked.
pub(crate) struct Arguments {
    pub(crate) operation: LitStr,
    pub(crate) version: LitInt,
    /// An expression of type `ScopeSource`.
    pub(crate) scope: TokenStream,
    /// An expression of type `OnAbandoned`.
    pub(crate) on_abandoned: Option<TokenStream>,
    /// An expression of type `Window`.
    pub(crate) window: Option<TokenStream>,
    /// An expression of type `[Method; N]`.
    pub(crate) methods: Option<TokenStream>,
}

#[derive(Default)]
struct Collected {
    operation: Option<Expr>,
    version: Option<Expr>,
    scope: Option<Expr>,
    on_abandoned: Option<Expr>,
    window: Option<Expr>,
    methods: Option<Expr>,
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
            "window" => &mut self.window,
            "methods" => &mut self.methods,
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
        let methods = errors.take(self.methods.map(methods).transpose());
        Some(Arguments {
            operation: operation?,
            version: version?,
            scope: scope_source(scope?),
            on_abandoned: self.on_abandoned.map(on_abandoned),
            window: self.window.map(|window| quote!(#window)),
            methods: methods?,
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

/// `rerun` and `reject` mean the variants of `OnAbandoned`; anything else is the user's expression.
fn on_abandoned(value: Expr) -> TokenStream {
    let on_abandoned = quote!(::lambda_idempotency::OnAbandoned);
    match &value {
        Expr::Path(path) if path.path.is_ident("rerun") => quote!(#on_abandoned::Rerun),
        Expr::Path(path) if path.path.is_ident("reject") => quote!(#on_abandoned::Reject),
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
