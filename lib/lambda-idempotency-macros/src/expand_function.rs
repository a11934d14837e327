//! To one call of `lambda_idempotency::function::run`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{ItemFn, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    arguments::Arguments,
    diagnostics,
    expand::{declared, derived_key, handed, passed_through, with_choices, without_marks},
    function_arguments::FunctionArguments,
    handler::{Handler, Parameter},
};

pub(crate) fn expand(
    arguments: &Arguments,
    of_function: &FunctionArguments,
    handler: &Handler,
    function: &ItemFn,
) -> TokenStream {
    let inputs = function.sig.inputs.iter().map(without_marks);
    let (output, block) = (&function.sig.output, &function.block);
    let operation = operation(arguments, of_function);
    let call = call(of_function, handler);
    let (mut passed, mut checks) = (vec![], vec![]);
    for parameter in &handler.parameters {
        passed.push(match parameter {
            Parameter::Attempt { is_reference: true, .. } => quote!(&__attempt),
            Parameter::Attempt { .. } => quote!(__attempt),
            Parameter::Extracted(_) | Parameter::Message { .. } => continue,
            Parameter::Counted { name, .. } | Parameter::Shared { name, .. } => name.to_token_stream(),
            Parameter::Reference { name, ty } => {
                checks.push(no_data(ty));
                name.to_token_stream()
            }
        });
    }
    // Where the operation has no probe, its choice for lost attempts asks for none.
    let probe = match arguments.probe() {
        Some(probe) => {
            let (value, _) = handler.returned.types();
            quote_spanned!(probe.span()=> ::lambda_idempotency::__private::probe::<#value, _, _>(#probe))
        }
        None => quote!(::lambda_idempotency::__private::nobody_can_say),
    };
    let types = handler.returned.asked_for(&quote!(::lambda_idempotency::function::types));
    let (undo, unused) = (arguments.undoing(), arguments.unused());
    let handed = handed(handler, &passed);
    let signature = signature(handler, function);
    quote! {
        #signature {
            #unused
            async fn __handler(#(#inputs),*) #output #block

            #(#checks)*

            static __OPERATION: ::std::sync::LazyLock<::lambda_idempotency::function::FunctionOperation> =
                ::std::sync::LazyLock::new(|| #operation);

            let __call = #call;
            ::lambda_idempotency::function::carry_out(
                __idempotency,
                &*__OPERATION,
                __call,
                #types,
                #probe,
                #undo,
                |__attempt| #handed,
            )
            .await
        }
    }
}

/// The call, computed from references to the arguments, before any of them is handed over.
fn call(of_function: &FunctionArguments, handler: &Handler) -> TokenStream {
    let (mut references, mut counted) = (vec![], vec![]);
    for parameter in &handler.parameters {
        match parameter {
            Parameter::Counted { name, ty } => {
                references.push(name);
                counted.push((name, ty));
            }
            Parameter::Shared { name, ty } if !matches!(**ty, Type::Reference(_)) => references.push(name),
            _ => {}
        }
    }
    let references = references.into_iter().map(|name| quote!(#[allow(unused_variables)] let #name = &#name;));
    let arguments = counted.iter().map(|(name, ty)| {
        let text = name.unraw().to_string();
        quote!(let __call = ::lambda_idempotency::function::Call::argument::<#ty>(__call, #text, #name);)
    });
    let (key, scope) = (derived_key(&of_function.key), &of_function.scope);
    let deadline = of_function.deadline.iter();
    quote! {{
        #(#references)*
        let __call = ::lambda_idempotency::function::Call::new(#key, #scope);
        #(#arguments)*
        #(let __call = ::lambda_idempotency::function::Call::deadline(__call, #deadline);)*
        __call
    }}
}

/// A reference to what can be written as JSON would silently not count. It cannot be a bound, because what is wanted is that there is
/// no implementation; of an associated constant, the inherent one is taken where its bound holds, else the trait's.
fn no_data(ty: &Type) -> TokenStream {
    let message = diagnostics::BORROWED_DATA;
    let is_data = quote_spanned!(ty.span()=> ::lambda_idempotency::__private::IsData::<#ty>::VALUE);
    quote_spanned! { ty.span() =>
        const _: () = {
            #[allow(unused_imports)]
            use ::lambda_idempotency::__private::NoData as _;
            ::core::assert!(!#is_data, #message)
        };
    }
}

fn operation(arguments: &Arguments, of_function: &FunctionArguments) -> TokenStream {
    let declared = declared(arguments);
    let choices = [("wait", of_function.wait.as_ref())];
    with_choices(&quote!(::lambda_idempotency::function::FunctionOperation::new(#declared)), arguments, &choices)
}

/// The function that callers see.
pub(crate) fn signature(handler: &Handler, function: &ItemFn) -> TokenStream {
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let arguments = passed_through(handler);
    let (value, error) = handler.returned.types();
    quote! {
        #(#attributes)*
        #visibility async fn #name<__S: ::lambda_idempotency::Store>(
            __idempotency: &::lambda_idempotency::Idempotency<__S>,
            #(#arguments,)*
        ) -> ::core::result::Result<
            ::lambda_idempotency::function::Done<#value>,
            ::lambda_idempotency::function::Error<#error>,
        >
    }
}
