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
        if signature.constness.is_some() || !matches!(signature.safety, syn::Safety::Default) || signature.abi.is_some()
        {
            errors.push(Error::new(signature.span(), diagnostics::NOT_PLAIN));
        }
        if !signature.generics.params.is_empty() {
            errors.push(Error::new(signature.generics.span(), diagnostics::GENERIC));
        }
        match &signature.output {
            ReturnType::Default => errors.push(Error::new(signature.ident.span(), diagnostics::NO_RESULT)),
            ReturnType::Type(_, ty) if !is_result(ty) => errors.push(Error::new(ty.span(), diagnostics::NO_RESULT)),
            ReturnType::Type(..) => {}
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
    let PatType { attrs, pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => return Err(Error::new(receiver.span(), diagnostics::RECEIVER)),
    };
    if let Some(attribute) = attrs.first() {
        return Err(Error::new(attribute.span(), diagnostics::ARGUMENT_ATTRIBUTE));
    }
    match &**ty {
        Type::Reference(reference) if matches!(&*reference.elem, Type::ImplTrait(_)) => {
            Err(Error::new(ty.span(), diagnostics::IMPL_TRAIT))
        }
        Type::Reference(reference) if reference.mutability.is_some() => {
            Err(Error::new(ty.span(), diagnostics::MUTABLE_REFERENCE))
        }
        Type::Reference(reference) if is_extracted(&reference.elem) => {
            Err(Error::new(ty.span(), diagnostics::REFERENCE_TO_EXTRACTED))
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

/// `Result<…>`, `io::Result<…>`, or an alias whose name ends so.
fn is_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if last_ends_with(path, "Result"))
}

/// What is certainly meant to be read from the request or the claim.
fn is_extracted(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if is_attempt(path)
        || path.path.segments.last().is_some_and(|last| last.ident == "Request" || last.ident == "Json"))
}

fn last_ends_with(path: &TypePath, end: &str) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with(end))
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
