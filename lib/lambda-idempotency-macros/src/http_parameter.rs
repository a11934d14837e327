//! The arguments of an HTTP handler.

use syn::{Error, FnArg, PatType, Result, Type, spanned::Spanned};

use crate::{
    diagnostics,
    handler::{Parameter, is_extracted},
    parameter::{check_type, is_attempt, name, typed},
};

pub(crate) fn parameter(input: &FnArg) -> Result<Parameter> {
    let PatType { attrs, pat, ty, .. } = typed(input)?;
    if let Some(attribute) = attrs.first() {
        return Err(Error::new(attribute.span(), diagnostics::ARGUMENT_ATTRIBUTE));
    }
    check_type(ty)?;
    match &**ty {
        Type::Reference(reference) if matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Attempt")) => {
            Ok(Parameter::Attempt { ty: reference.elem.clone(), is_reference: true })
        }
        Type::Reference(reference) if is_extracted(&reference.elem) => {
            Err(Error::new(ty.span(), diagnostics::REFERENCE_TO_EXTRACTED))
        }
        Type::Reference(_) => {
            Ok(Parameter::Shared { name: name(pat, diagnostics::REFERENCE_PATTERN)?, ty: ty.clone() })
        }
        Type::Path(path) if is_attempt(path) => Ok(Parameter::Attempt { ty: ty.clone(), is_reference: false }),
        _ => Ok(Parameter::Extracted(ty.clone())),
    }
}
