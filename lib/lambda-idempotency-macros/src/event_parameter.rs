//! The arguments of a function of records.

use syn::{Error, FnArg, PatType, Result, Signature, Type, spanned::Spanned};

use crate::{
    arguments::Errors,
    diagnostics,
    function_parameter::{attempt, is_shared},
    handler::Parameter,
    parameter::{check_type, is_attempt, name, typed},
};

pub(crate) fn parameter(input: &FnArg) -> Result<Parameter> {
    let PatType { attrs, pat, ty, .. } = typed(input)?;
    let shared = is_shared(attrs)?;
    check_type(ty)?;
    match &**ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if is_attempt(path) => attempt(path, &reference.elem, true),
            _ => Ok(Parameter::Reference {
                name: name(pat, diagnostics::REFERENCE_PATTERN)?,
                ty: reference.elem.clone(),
            }),
        },
        _ if shared => Err(Error::new_spanned(ty, diagnostics::SHARED_BY_VALUE)),
        Type::Path(path) if is_attempt(path) => attempt(path, ty, false),
        _ => Ok(Parameter::Message { name: name(pat, diagnostics::MESSAGE_NAME)?, ty: ty.clone() }),
    }
}

/// There is one message.
pub(crate) fn check_messages(signature: &Signature, parameters: &[Parameter], errors: &mut Errors) {
    let mut messages = parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Message { ty, .. } => Some(ty),
        _ => None,
    });
    let mut references = parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Reference { ty, .. } => Some(ty),
        _ => None,
    });
    if messages.next().is_none() {
        errors.push(match (references.next(), references.next()) {
            (Some(only), None) => Error::new_spanned(only, diagnostics::MESSAGE_BY_REFERENCE),
            _ => Error::new(signature.ident.span(), diagnostics::NO_MESSAGE),
        });
    }
    for second in messages {
        errors.push(Error::new(second.span(), diagnostics::TWO_MESSAGES));
    }
}
