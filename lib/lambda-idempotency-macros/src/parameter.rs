//! What arguments of all kinds of handlers have in common.

use syn::{
    Error, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Result, Type, TypePath, TypeReference,
    spanned::Spanned,
};

use crate::diagnostics;

/// An argument with a type.
pub(crate) fn typed(input: &FnArg) -> Result<&PatType> {
    match input {
        FnArg::Typed(typed) => Ok(typed),
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), diagnostics::RECEIVER)),
    }
}

/// What no handler can take, whatever the argument is for.
pub(crate) fn check_type(ty: &Type) -> Result<()> {
    match ty {
        Type::ImplTrait(_) => Err(Error::new(ty.span(), diagnostics::IMPL_TRAIT)),
        Type::TraitObject(_) => Err(Error::new_spanned(ty, diagnostics::TRAIT_OBJECT)),
        Type::Reference(reference) => check_reference(ty, reference),
        _ => Ok(()),
    }
}

fn check_reference(ty: &Type, reference: &TypeReference) -> Result<()> {
    if matches!(&*reference.elem, Type::ImplTrait(_)) {
        return Err(Error::new(ty.span(), diagnostics::IMPL_TRAIT));
    }
    if reference.mutability.is_some() {
        return Err(Error::new(ty.span(), diagnostics::MUTABLE_REFERENCE));
    }
    Ok(())
}

/// The plain name of an argument.
pub(crate) fn name(pat: &Pat, otherwise: &str) -> Result<Ident> {
    match pat {
        Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => Ok(name.ident.clone()),
        _ => Err(Error::new(pat.span(), otherwise)),
    }
}

/// `Attempt` or `Option<Attempt>`, however they are qualified.
pub(crate) fn is_attempt(path: &TypePath) -> bool {
    let Some(last) = path.path.segments.last() else { return false };
    if last.ident == "Attempt" {
        return true;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    last.ident == "Option"
        && matches!(arguments.args.first(), Some(GenericArgument::Type(Type::Path(inner))) if is_attempt(inner))
}
