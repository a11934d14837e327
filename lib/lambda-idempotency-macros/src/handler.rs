//! The function below the macro.

use syn::{Error, Ident, ItemFn, Result, ReturnType, Signature, Type, TypePath, spanned::Spanned};

use crate::{
    arguments::Errors, diagnostics, event_parameter, function_parameter, http_parameter, kind::Kind,
    parameter::is_attempt, returned::Returned,
};

/// The handler's arguments, sorted by where they come from, and what it returns.
pub(crate) struct Handler {
    pub(crate) kind: Kind,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) returned: Returned,
}

/// One argument of the handler.
pub(crate) enum Parameter {
    /// Read from the HTTP request.
    Extracted(Box<Type>),
    /// Part of a function's call.
    Counted { name: Ident, ty: Box<Type> },
    /// The message of a function of records.
    Message { name: Ident, ty: Box<Type> },
    /// The attempt, an optional one, or a reference to it.
    Attempt { ty: Box<Type>, is_reference: bool },
    /// Shared state, handed through.
    Shared { name: Ident, ty: Box<Type> },
    /// A reference, handed through, to what must not be data of a function's call.
    Reference { name: Ident, ty: Box<Type> },
}

impl Handler {
    pub(crate) fn check(function: &ItemFn, kind: Kind) -> Result<Self> {
        let mut errors = Errors::default();
        let signature = &function.sig;
        check_qualifiers(signature, kind, &mut errors);
        let returned = errors.take(returned(signature, kind));
        let parameter = match kind {
            Kind::Http => http_parameter::parameter,
            Kind::Function => function_parameter::parameter,
            Kind::Event => event_parameter::parameter,
        };
        let parameters: Vec<_> = signature.inputs.iter().filter_map(|input| errors.take(parameter(input))).collect();
        let attempts = parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Attempt { ty, .. } => Some(ty),
            _ => None,
        });
        for second in attempts.skip(1) {
            errors.push(Error::new(second.span(), diagnostics::TWO_ATTEMPTS));
        }
        if kind == Kind::Event && parameters.len() == signature.inputs.len() {
            event_parameter::check_messages(signature, &parameters, &mut errors);
        }
        errors.finish()?;
        let returned = returned.ok_or_else(|| Error::new(signature.ident.span(), diagnostics::NO_RESULT))?;
        Ok(Self { kind, parameters, returned })
    }
}

fn check_qualifiers(signature: &Signature, kind: Kind, errors: &mut Errors) {
    if signature.asyncness.is_none() {
        errors.push(Error::new(signature.fn_token.span, diagnostics::NOT_ASYNC));
    }
    if signature.constness.is_some() || !matches!(signature.safety, syn::Safety::Default) || signature.abi.is_some() {
        errors.push(Error::new(signature.span(), diagnostics::NOT_PLAIN));
    }
    let generics = &signature.generics;
    if kind != Kind::Http && generics.lifetimes().count() > 0 {
        errors.push(Error::new_spanned(generics, diagnostics::LIFETIME));
    } else if !generics.params.is_empty() {
        let message = match kind {
            Kind::Http => diagnostics::GENERIC,
            Kind::Function => diagnostics::GENERIC_FUNCTION,
            Kind::Event => diagnostics::GENERIC_EVENT,
        };
        errors.push(Error::new_spanned(generics, message));
    }
}

/// `Result<…>`, `io::Result<…>`, or an alias whose name ends so.
fn returned(signature: &Signature, kind: Kind) -> Result<Returned> {
    match &signature.output {
        ReturnType::Default => Err(Error::new(signature.ident.span(), diagnostics::NO_RESULT)),
        ReturnType::Type(_, ty) => {
            let is_result = matches!(&**ty, Type::Path(path) if last_ends_with(path, "Result"));
            if !is_result {
                return Err(Error::new(ty.span(), diagnostics::NO_RESULT));
            }
            let returned = Returned::new(ty);
            if kind != Kind::Http {
                returned.check_owned()?;
            }
            Ok(returned)
        }
    }
}

fn last_ends_with(path: &TypePath, end: &str) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with(end))
}

/// What is certainly meant to be read from the request or the claim.
pub(crate) fn is_extracted(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if is_attempt(path)
        || path.path.segments.last().is_some_and(|last| last.ident == "Request" || last.ident == "Json"))
}
