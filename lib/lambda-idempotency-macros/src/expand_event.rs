//! To one call of `lambda_idempotency::events::run`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Ident, ItemFn, spanned::Spanned};

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
    let (mut passed, mut message) = (vec![], None);
    for parameter in &handler.parameters {
        match parameter {
            Parameter::Message { ty, .. } => {
                message = Some(ty);
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
    let record = of_source(source, "Record");
    let reader = message
        .map(|message| quote_spanned!(message.span()=> ::lambda_idempotency::events::reader::<#record, #message>()));
    let handed = handed(handler, &passed);
    let (undo, unused) = (arguments.undoing(), arguments.unused());
    let signature = signature(handler, function, source);
    quote! {
        #signature {
            #unused
            async fn __handler(#(#inputs),*) #output #block

            static __OPERATION: ::std::sync::LazyLock<::lambda_idempotency::events::EventOperation> =
                ::std::sync::LazyLock::new(|| #operation);

            ::lambda_idempotency::events::carry_out(
                #source,
                __idempotency,
                &*__OPERATION,
                __event,
                #reader,
                #types,
                #identity,
                #probe,
                #undo,
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
        ("wait", of_event.wait.as_ref()),
        ("concurrency", of_event.concurrency.as_ref()),
        ("linger", of_event.linger.as_ref()),
        ("on_poison", of_event.on_poison.as_ref()),
        ("order_by_key", of_event.order_by_key.as_ref()),
    ];
    with_choices(&quote!(::lambda_idempotency::events::EventOperation::new(#declared)), arguments, &choices)
}

/// An associated type of the source, where the source is named.
fn of_source(source: &TokenStream, name: &str) -> TokenStream {
    let name = Ident::new(name, source.span());
    quote_spanned!(source.span()=> <#source as ::lambda_idempotency::events::Source>::#name)
}

/// The function that a Lambda runtime calls.
pub(crate) fn signature(handler: &Handler, function: &ItemFn, source: &TokenStream) -> TokenStream {
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let (shared, event, response) =
        (passed_through(handler), of_source(source, "Event"), of_source(source, "Response"));
    quote! {
        #(#attributes)*
        #visibility async fn #name<__S: ::lambda_idempotency::Store>(
            __idempotency: &::lambda_idempotency::Idempotency<__S>,
            #(#shared,)*
            __event: ::lambda_idempotency::__private::LambdaEvent<#event>,
        ) -> ::core::result::Result<#response, ::lambda_idempotency::events::DeliveryError>
    }
}
