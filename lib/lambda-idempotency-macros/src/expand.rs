//! From arguments and handler to one call of `lambda_idempotency::http::run`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Error, ItemFn, Result, parse2, spanned::Spanned};

use crate::{
    arguments::{Arguments, Errors},
    diagnostics,
    handler::{Handler, Parameter},
};

pub(crate) fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match parse2(item) {
        Ok(function) => function,
        Err(error) => return Error::new(error.span(), diagnostics::NOT_A_FUNCTION).into_compile_error(),
    };
    match checked(arguments, &function) {
        Ok((arguments, handler)) => expand(&arguments, &handler, &function),
        Err(error) => {
            let (error, fallback) = (error.into_compile_error(), fallback(&function));
            quote!(#error #fallback)
        }
    }
}

/// Both sides are checked before either's errors are reported.
fn checked(arguments: TokenStream, function: &ItemFn) -> Result<(Arguments, Handler)> {
    let mut errors = Errors::default();
    let arguments = errors.take(parse2(arguments));
    let handler = errors.take(Handler::check(function));
    errors.finish()?;
    arguments.zip(handler).ok_or_else(|| Error::new(function.span(), diagnostics::NOT_A_FUNCTION))
}

fn expand(arguments: &Arguments, handler: &Handler, function: &ItemFn) -> TokenStream {
    let operation = operation(arguments);
    let (output, inputs, block) = (&function.sig.output, &function.sig.inputs, &function.block);
    let (mut extracted, mut extractors, mut attempt, mut passed) = (vec![], vec![], None, vec![]);
    for parameter in &handler.parameters {
        match parameter {
            Parameter::Extracted(ty) => {
                let argument = format_ident!("__extracted_{}", extracted.len());
                extractors.push(quote_spanned! { ty.span() =>
                    <#ty as ::lambda_idempotency::http::FromRequest>::from_request(&__request)?
                });
                passed.push(argument.to_token_stream());
                extracted.push(argument);
            }
            Parameter::Attempt(ty) => {
                attempt = Some(ty);
                passed.push(quote!(__attempt));
            }
            Parameter::Shared { name, .. } => passed.push(name.to_token_stream()),
        }
    }
    let attempt = match attempt {
        Some(ty) => quote!(__attempt: #ty),
        None => quote!(_: ::core::option::Option<::lambda_idempotency::Attempt>),
    };
    let probe = arguments.probe.as_ref();
    let probe = probe.or_else(|| arguments.on_abandoned.as_ref()?.probe.as_ref());
    let (run, probe) = match probe {
        Some(probe) => (quote!(run_with_probe), Some(quote!(#probe,))),
        None => (quote!(run), None),
    };
    // Shared state may be there for the probe only.
    let unused = probe.as_ref().map(|_| quote!(#[allow(unused_variables)]));
    let signature = signature(handler, function);
    quote! {
        #signature {
            #unused
            async fn __handler(#inputs) #output #block

            static __OPERATION: ::std::sync::LazyLock<::lambda_idempotency::http::HttpOperation> =
                ::std::sync::LazyLock::new(|| #operation);

            ::lambda_idempotency::http::#run(
                __idempotency,
                &*__OPERATION,
                __request,
                |__request| ::core::result::Result::Ok((#(#extractors,)*)),
                #probe
                |(#(#extracted,)*), #attempt| __handler(#(#passed),*),
            )
            .await
        }
    }
}

fn operation(arguments: &Arguments) -> TokenStream {
    let Arguments { operation, version, scope, on_abandoned, .. } = arguments;
    let on_abandoned = on_abandoned.as_ref().map(|value| &value.choice);
    let choices = [
        ("window", arguments.window.as_ref()),
        ("on_abandoned", on_abandoned),
        ("in_flight", arguments.in_flight.as_ref()),
        ("retain", arguments.retain.as_ref()),
        ("methods", arguments.methods.as_ref()),
        ("fingerprint_exclude", arguments.fingerprint_exclude.as_ref()),
        ("replay_headers", arguments.replay_headers.as_ref()),
    ];
    let choices = choices.into_iter().filter_map(|(name, value)| {
        let name = format_ident!("{name}");
        value.map(|value| quote!(.#name(#value)))
    });
    quote! {
        ::lambda_idempotency::http::HttpOperation::new(
            const { ::lambda_idempotency::Operation::declare(#operation, #version) },
            #scope,
        )
        #(#choices)*
    }
}

/// The function that callers see.
fn signature(handler: &Handler, function: &ItemFn) -> TokenStream {
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let shared = handler.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Shared { name, ty } => Some(quote!(#name: #ty)),
        _ => None,
    });
    quote! {
        #(#attributes)*
        #visibility async fn #name<__S: ::lambda_idempotency::Store>(
            __idempotency: &::lambda_idempotency::Idempotency<__S>,
            #(#shared,)*
            __request: ::lambda_idempotency::__private::Request,
        ) -> ::core::result::Result<
            ::lambda_idempotency::http::Reply,
            ::lambda_idempotency::__private::Error,
        >
    }
}

/// Beside an error: the function as callers expect it, so that they do not add errors of their own.
fn fallback(function: &ItemFn) -> TokenStream {
    let Ok(handler) = Handler::check(function) else { return TokenStream::new() };
    let signature = signature(&handler, function);
    quote! {
        #[allow(unused_variables, unreachable_code)]
        #signature {
            ::core::unreachable!()
        }
    }
}
