//! To one call of `lambda_idempotency::events::run`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{ItemFn, spanned::Spanned};

use crate::{
    arguments::Arguments,
    event_arguments::EventArguments,
    expand::{declared, derived_key, handed, passed_through, with_choices, without_marks},
    handler::{Handler, Parameter},
};

pub(crate) fn expand(
    arguments: &Arguments,
    of_event: &EventArguments,
    handler: &Handler,
    function: &ItemFn,
) -> TokenStream {
    let inputs = function.sig.inputs.iter().map(without_marks);
    let (output, block) = (&function.sig.output, &function.block);
    let (operation, source) = (operation(arguments, of_event), &of_event.source);
    let (mut passed, mut message) = (vec![], TokenStream::new());
    for parameter in &handler.parameters {
        match parameter {
            Parameter::Message { ty, .. } => {
                message = ty.to_token_stream();
                passed.push(quote!(__message));
            }
            Parameter::Attempt { is_reference, .. } => {
                passed.push(if *is_reference { quote!(&__attempt) } else { quote!(__attempt) });
            }
            Parameter::Reference { name, .. } => passed.push(name.to_token_stream()),
            Parameter::Extracted(_) | Parameter::Counted { .. } | Parameter::Shared { .. } => {}
        }
    }
    let (identity, probe) = (identity(of_event, handler), probe(arguments, handler));
    let types = handler.returned.asked_for(&quote!(::lambda_idempotency::events::types));
    let handed = handed(handler, &passed);
    // Shared state may be there for the probe only.
    let unused = arguments.probe().map(|_| quote!(#[allow(unused_variables)]));
    let signature = signature(handler, function, source);
    quote! {
        #signature {
            #unused
            async fn __handler(#(#inputs),*) #output #block

            static __OPERATION: ::std::sync::LazyLock<::lambda_idempotency::events::EventOperation> =
                ::std::sync::LazyLock::new(|| #operation);

            ::lambda_idempotency::events::carry_out::<_, _, #message, _, _, _, _>(
                #source,
                __idempotency,
                &*__OPERATION,
                __event,
                #types,
                #identity,
                #probe,
                |__message, __attempt| #handed,
            )
            .await
        }
    }
}

/// Whose a record is and by what it is known, from a reference to the message, before it is handed over.
fn identity(of_event: &EventArguments, handler: &Handler) -> TokenStream {
    let message = handler.parameters.iter().find_map(|parameter| match parameter {
        Parameter::Message { name, .. } => Some(name),
        _ => None,
    });
    let scope = &of_event.scope;
    let key = of_event.key.as_ref().map(derived_key).into_iter();
    quote! {
        |#[allow(unused_variables)] #message| {
            let __identity = ::lambda_idempotency::events::Identity::new(#scope);
            #(let __identity = ::lambda_idempotency::events::Identity::key(__identity, #key);)*
            __identity
        }
    }
}

/// Where the operation has no probe, its choice for lost attempts asks for none.
fn probe(arguments: &Arguments, handler: &Handler) -> TokenStream {
    let Some(probe) = arguments.probe() else { return quote!(::lambda_idempotency::__private::nobody_can_say) };
    let (value, _) = handler.returned.types();
    // A probe asks once. One that is made for each question may be used for each.
    let asked = quote_spanned!(probe.span()=> ::lambda_idempotency::__private::probe::<#value, _, _>(#probe));
    quote!(|__attempt: ::lambda_idempotency::Attempt| #asked(__attempt))
}

fn operation(arguments: &Arguments, of_event: &EventArguments) -> TokenStream {
    let declared = declared(arguments);
    let choices = [
        ("window", arguments.window.as_ref()),
        ("on_abandoned", arguments.on_abandoned.as_ref().map(|value| &value.choice)),
        ("wait", of_event.wait.as_ref()),
        ("fingerprint_exclude", arguments.fingerprint_exclude.as_ref()),
        ("concurrency", of_event.concurrency.as_ref()),
        ("linger", of_event.linger.as_ref()),
        ("on_poison", of_event.on_poison.as_ref()),
        ("order_by_key", of_event.order_by_key.as_ref()),
    ];
    with_choices(&quote!(::lambda_idempotency::events::EventOperation::new(#declared)), &choices)
}

/// The function that a Lambda runtime calls.
pub(crate) fn signature(handler: &Handler, function: &ItemFn, source: &TokenStream) -> TokenStream {
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let shared = passed_through(handler);
    quote! {
        #(#attributes)*
        #visibility async fn #name<__S: ::lambda_idempotency::Store>(
            __idempotency: &::lambda_idempotency::Idempotency<__S>,
            #(#shared,)*
            __event: ::lambda_idempotency::__private::LambdaEvent<
                <#source as ::lambda_idempotency::events::Source>::Event,
            >,
        ) -> ::core::result::Result<
            <#source as ::lambda_idempotency::events::Source>::Response,
            ::lambda_idempotency::events::DeliveryError,
        >
    }
}
