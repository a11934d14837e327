//! To one call of `lambda_idempotency::http::run`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{ItemFn, spanned::Spanned};

use crate::{
    arguments::Arguments,
    expand::{declared, handed, passed_through, with_choices},
    handler::{Handler, Parameter},
    http_arguments::HttpArguments,
};

pub(crate) fn expand(
    arguments: &Arguments,
    of_http: &HttpArguments,
    handler: &Handler,
    function: &ItemFn,
) -> TokenStream {
    let operation = operation(arguments, of_http);
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
            Parameter::Attempt { ty, is_reference } => {
                attempt = Some(ty);
                passed.push(if *is_reference { quote!(&__attempt) } else { quote!(__attempt) });
            }
            Parameter::Shared { name, .. } => passed.push(name.to_token_stream()),
            Parameter::Reference { .. } | Parameter::Counted { .. } | Parameter::Message { .. } => {}
        }
    }
    let attempt = match attempt {
        Some(ty) => quote!(__attempt: #ty),
        None => quote!(_: ::core::option::Option<::lambda_idempotency::Attempt>),
    };
    let handed = handed(handler, &passed);
    let types = handler.returned.asked_for(&quote!(::lambda_idempotency::http::types));
    let probe = match arguments.probe() {
        Some(probe) => probe.clone(),
        None => quote!(::lambda_idempotency::http::no_probe),
    };
    let (undo, unused) = (arguments.undoing(), arguments.unused());
    let signature = signature(handler, function);
    quote! {
        #signature {
            #unused
            async fn __handler(#inputs) #output #block

            static __OPERATION: ::std::sync::LazyLock<::lambda_idempotency::http::HttpOperation> =
                ::std::sync::LazyLock::new(|| #operation);

            ::lambda_idempotency::http::carry_out(
                __idempotency,
                &*__OPERATION,
                __request,
                |__request| ::core::result::Result::Ok((#(#extractors,)*)),
                #types,
                #probe,
                #undo,
                |(#(#extracted,)*), #attempt| #handed,
            )
            .await
        }
    }
}

fn operation(arguments: &Arguments, of_http: &HttpArguments) -> TokenStream {
    let (declared, scope) = (declared(arguments), &of_http.scope);
    let choices = [
        ("in_flight", of_http.in_flight.as_ref()),
        ("retain", of_http.retain.as_ref()),
        ("methods", of_http.methods.as_ref()),
        ("replay_headers", of_http.replay_headers.as_ref()),
    ];
    with_choices(&quote!(::lambda_idempotency::http::HttpOperation::new(#declared, #scope)), arguments, &choices)
}

/// The function that callers see.
pub(crate) fn signature(handler: &Handler, function: &ItemFn) -> TokenStream {
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let shared = passed_through(handler);
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
