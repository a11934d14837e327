//! From arguments and handler to one call of a function that works without the macro.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, ItemFn, Result, parse2, spanned::Spanned};

use crate::{
    arguments::{Arguments, Errors, Kind, OfKind},
    diagnostics, expand_function, expand_http,
    handler::{Handler, Parameter},
};

pub(crate) fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match parse2(item) {
        Ok(function) => function,
        Err(error) => return Error::new(error.span(), diagnostics::NOT_A_FUNCTION).into_compile_error(),
    };
    let kind = Kind::of(&arguments);
    match checked(arguments, &function, kind) {
        Ok((arguments, handler)) => match &arguments.of_kind {
            OfKind::Http(of_http) => expand_http::expand(&arguments, of_http, &handler, &function),
            OfKind::Function(of_function) => expand_function::expand(&arguments, of_function, &handler, &function),
        },
        Err(error) => {
            let (error, fallback) = (error.into_compile_error(), fallback(&function, kind));
            quote!(#error #fallback)
        }
    }
}

/// Both sides are checked before either's errors are reported.
fn checked(arguments: TokenStream, function: &ItemFn, kind: Kind) -> Result<(Arguments, Handler)> {
    let mut errors = Errors::default();
    let arguments = errors.take(parse2(arguments));
    let handler = errors.take(Handler::check(function, kind));
    errors.finish()?;
    arguments.zip(handler).ok_or_else(|| Error::new(function.span(), diagnostics::NOT_A_FUNCTION))
}

/// The operation with what was chosen for it.
pub(crate) fn with_choices(operation: &TokenStream, choices: &[(&str, Option<&TokenStream>)]) -> TokenStream {
    let choices = choices.iter().filter_map(|(name, value)| {
        let name = format_ident!("{name}");
        value.map(|value| quote!(.#name(#value)))
    });
    quote!(#operation #(#choices)*)
}

/// `Operation::declare`, checked when it is compiled.
pub(crate) fn declared(arguments: &Arguments) -> TokenStream {
    let Arguments { operation, version, .. } = arguments;
    quote!(const { ::lambda_idempotency::Operation::declare(#operation, #version) })
}

/// The arguments that the function below the macro shares with the one that callers see.
pub(crate) fn passed_through(handler: &Handler) -> impl Iterator<Item = TokenStream> {
    handler.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Shared { name, ty } | Parameter::Counted { name, ty } => Some(quote!(#name: #ty)),
        Parameter::Reference { name, ty } => Some(quote!(#name: &#ty)),
        Parameter::Extracted(_) | Parameter::Attempt(_) => None,
    })
}

/// The function that callers see.
fn signature(handler: &Handler, function: &ItemFn) -> TokenStream {
    match handler.kind {
        Kind::Http => expand_http::signature(handler, function),
        Kind::Function => expand_function::signature(handler, function),
    }
}

/// Beside an error: the function as callers expect it, so that they do not add errors of their own.
fn fallback(function: &ItemFn, kind: Kind) -> TokenStream {
    let Ok(handler) = Handler::check(function, kind) else { return TokenStream::new() };
    let signature = signature(&handler, function);
    quote! {
        #[allow(unused_variables, unreachable_code)]
        #signature {
            ::core::unreachable!()
        }
    }
}
