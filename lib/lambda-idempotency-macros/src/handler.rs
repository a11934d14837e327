//! The function below the macro.

use syn::{
    Error, FnArg, GenericArgument, Ident, ItemFn, Pat, PatType, PathArguments, Result, ReturnType, Type, TypePath,
    spanned::Spanned,
};

use crate::{arguments::Errors, diagnostics};

/// The handler's arguments, sorted by where they come from.
pub(crate) struct Handler {
    pub(crate) parameters: Vec<Parameter>,
}

/// One argument of the handler.
pub(crate) enum Parameter {
    /// Read from the request.
    Extracted(Box<Type>),
    /// The attempt, or an optional one.
    Attempt(Box<Type>),
    /// Shared state, handed through.
    Shared { name: Ident, ty: Box<Type> },
}

impl Handler {
    pub(crate) fn check(function: &ItemFn) -> Result<Self> {
        let mut errors = Errors::default();
        let signature = &function.sig;
        if signature.asyncness.is_none() {
            errors.push(Error::new(signature.fn_token.span, diagnostics::NOT_ASYNC));
        }
        if !signature.generics.params.is_empty() {
            errors.push(Error::new(signature.generics.span(), diagnostics::GENERIC));
        }
        if let ReturnType::Default = signature.output {
            errors.push(Error::new(signature.ident.span(), diagnostics::NO_RESULT));
        }
        let parameters: Vec<_> = signature.inputs.iter().filter_map(|input| errors.take(parameter(input))).collect();
        let attempts = parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Attempt(ty) => Some(ty),
            _ => None,
        });
        for second in attempts.skip(1) {
            errors.push(Error::new(second.span(), diagnostics::TWO_ATTEMPTS));
        }
        errors.finish()?;
        Ok(Self { parameters })
    }
}

fn parameter(input: &FnArg) -> Result<Parameter> {
    let PatType { pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => return Err(Error::new(receiver.span(), diagnostics::RECEIVER)),
    };
    match &**ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            Err(Error::new(ty.span(), diagnostics::MUTABLE_REFERENCE))
        }
        Type::Reference(_) => match &**pat {
            Pat::Ident(name) => Ok(Parameter::Shared { name: name.ident.clone(), ty: ty.clone() }),
            _ => Err(Error::new(pat.span(), diagnostics::REFERENCE_PATTERN)),
        },
        Type::ImplTrait(_) => Err(Error::new(ty.span(), diagnostics::IMPL_TRAIT)),
        Type::Path(path) if is_attempt(path) => Ok(Parameter::Attempt(ty.clone())),
        _ => Ok(Parameter::Extracted(ty.clone())),
    }
}

/// `Attempt` or `Option<Attempt>`, however they are qualified.
fn is_attempt(path: &TypePath) -> bool {
    let Some(last) = path.path.segments.last() else { return false };
    if last.ident == "Attempt" {
        return true;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    last.ident == "Option"
        && matches!(arguments.args.first(), Some(GenericArgument::Type(Type::Path(inner))) if is_attempt(inner))
}
