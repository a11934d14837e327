//! From arguments and handler to one call of a function that works without the macro.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Error, FnArg, ItemFn, Result, parse2, spanned::Spanned};

use crate::{
    arguments::{Arguments, Errors, OfKind},
    diagnostics, expand_event, expand_function, expand_http,
    function_parameter::is_mark,
    handler::{Handler, Parameter},
    key::Key,
    kind::Kind,
    trigger,
};

pub(crate) fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match parse2(item) {
        Ok(function) => function,
        Err(error) => return Error::new(error.span(), diagnostics::NOT_A_FUNCTION).into_compile_error(),
    };
    let kind = Kind::of(&arguments);
    let source = trigger::source(&arguments);
    match checked(arguments, &function, kind) {
        Ok((arguments, handler)) => match &arguments.of_kind {
            OfKind::Http(of_http) => expand_http::expand(&arguments, of_http, &handler, &function),
            OfKind::Function(of_function) => expand_function::expand(&arguments, of_function, &handler, &function),
            OfKind::Event(of_event) => expand_event::expand(&arguments, of_event, &handler, &function),
        },
        Err(error) => {
            let (error, fallback) = (error.into_compile_error(), fallback(&function, kind, &source));
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
pub(crate) fn with_choices(
    operation: &TokenStream,
    arguments: &Arguments,
    choices: &[(&str, Option<&TokenStream>)],
) -> TokenStream {
    let of_all = arguments.choices();
    let of_all = of_all.iter().map(|(name, value)| (*name, value.as_ref()));
    let choices = of_all.chain(choices.iter().copied()).filter_map(|(name, value)| {
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
        Parameter::Extracted(_) | Parameter::Message { .. } | Parameter::Attempt { .. } => None,
    })
}

/// A key from its parts, or as it is given.
pub(crate) fn derived_key(key: &Key) -> TokenStream {
    match key {
        Key::Given(key) => key.to_token_stream(),
        Key::Parts(parts) => {
            let parts = parts.iter().map(|part| {
                let (name, value) = (&part.name, &part.value);
                // The reference has the place of the value, so that the compiler's complaint about its type points there.
                let reference = quote_spanned!(value.span()=> &(#value));
                quote!(.part(#name, #reference))
            });
            quote!(::lambda_idempotency::IdempotencyKey::derived(__OPERATION.operation()) #(#parts)* .finish())
        }
    }
}

/// The handler's future, made of what is handed to it. What is handed by reference has to live in the future.
pub(crate) fn handed(handler: &Handler, passed: &[TokenStream]) -> TokenStream {
    let by_reference = |parameter: &Parameter| matches!(parameter, Parameter::Attempt { is_reference: true, .. });
    match handler.parameters.iter().any(by_reference) {
        true => quote!(async move { __handler(#(#passed),*).await }),
        false => quote!(__handler(#(#passed),*)),
    }
}

/// An argument of the function below the macro, as the compiler takes it.
pub(crate) fn without_marks(input: &FnArg) -> FnArg {
    let mut input = input.clone();
    if let FnArg::Typed(typed) = &mut input {
        typed.attrs.retain(|attribute| !is_mark(attribute));
    }
    input
}

/// The function that callers see.
fn signature(handler: &Handler, function: &ItemFn, source: &TokenStream) -> TokenStream {
    match handler.kind {
        Kind::Http => expand_http::signature(handler, function),
        Kind::Function => expand_function::signature(handler, function),
        Kind::Event => expand_event::signature(handler, function, source),
    }
}

/// Beside an error: the function as callers expect it, so that they do not add errors of their own.
fn fallback(function: &ItemFn, kind: Kind, source: &TokenStream) -> TokenStream {
    let Ok(handler) = Handler::check(function, kind) else { return TokenStream::new() };
    let signature = signature(&handler, function, source);
    quote! {
        #[allow(unused_variables, unreachable_code)]
        #signature {
            ::core::unreachable!()
        }
    }
}
