//! The arguments of a function with a key.

use syn::{Attribute, Error, FnArg, Meta, PatType, Result, Type, TypePath};

use crate::{
    diagnostics,
    handler::Parameter,
    parameter::{check_type, is_attempt, name, typed},
};

pub(crate) fn parameter(input: &FnArg) -> Result<Parameter> {
    let PatType { attrs, pat, ty, .. } = typed(input)?;
    let shared = is_shared(attrs)?;
    check_type(ty)?;
    if shared {
        return Ok(Parameter::Shared { name: name(pat, diagnostics::ARGUMENT_NAME)?, ty: ty.clone() });
    }
    match &**ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if is_attempt(path) => attempt(path, &reference.elem, true),
            Type::Path(path) if path.path.is_ident("str") => Err(Error::new_spanned(ty, diagnostics::BORROWED_TEXT)),
            Type::Slice(_) | Type::Array(_) => Err(Error::new_spanned(ty, diagnostics::BORROWED_LIST)),
            _ => Ok(Parameter::Reference {
                name: name(pat, diagnostics::REFERENCE_PATTERN)?,
                ty: reference.elem.clone(),
            }),
        },
        Type::Path(path) if is_attempt(path) => attempt(path, ty, false),
        _ => Ok(Parameter::Counted { name: name(pat, diagnostics::ARGUMENT_NAME)?, ty: ty.clone() }),
    }
}

/// The attempt, or a reference to it.
pub(crate) fn attempt(path: &TypePath, ty: &Type, is_reference: bool) -> Result<Parameter> {
    let optional = path.path.segments.last().is_some_and(|last| last.ident == "Option");
    if optional {
        return Err(Error::new_spanned(ty, diagnostics::OPTIONAL_ATTEMPT));
    }
    Ok(Parameter::Attempt { ty: Box::new(ty.clone()), is_reference })
}

/// Whether the argument is marked `#[shared]`. Other attributes are refused.
pub(crate) fn is_shared(attributes: &[Attribute]) -> Result<bool> {
    for attribute in attributes {
        if !is_mark(attribute) {
            return Err(Error::new_spanned(attribute, diagnostics::ARGUMENT_ATTRIBUTE));
        }
        if !matches!(attribute.meta, Meta::Path(_)) {
            return Err(Error::new_spanned(attribute, diagnostics::SHARED_TAKES_NOTHING));
        }
    }
    Ok(!attributes.is_empty())
}

/// `#[shared]`.
pub(crate) fn is_mark(attribute: &Attribute) -> bool {
    attribute.path().is_ident("shared")
}
