//! Where a function's key comes from.

use quote::ToTokens;
use syn::{Error, Expr, ExprArray, ExprField, Member, Result, spanned::Spanned};

use crate::{arguments::Errors, diagnostics};

/// Where a function's key comes from.
pub(crate) enum Key {
    /// It is derived from these parts.
    Parts(Vec<KeyPart>),
    /// An expression of a type that implements `IntoKey`.
    Given(Box<Expr>),
}

/// A part of a derived key.
pub(crate) struct KeyPart {
    pub(crate) name: String,
    pub(crate) value: Expr,
}

/// A list of parts, or an expression.
pub(crate) fn key(value: &Expr) -> Result<Key> {
    let Expr::Array(ExprArray { elems, .. }) = value else { return Ok(Key::Given(Box::new(value.clone()))) };
    if elems.is_empty() {
        return Err(Error::new(value.span(), diagnostics::KEY_OF_NOTHING));
    }
    let mut errors = Errors::default();
    let mut parts: Vec<KeyPart> = Vec::new();
    for element in elems {
        match part(element) {
            Ok(part) if parts.iter().any(|other| other.name == part.name) => {
                errors.push(Error::new_spanned(element, diagnostics::KEY_PART_TWICE));
            }
            Ok(part) => parts.push(part),
            Err(error) => errors.push(error),
        }
    }
    errors.finish()?;
    Ok(Key::Parts(parts))
}

/// `name = expression`, or an expression that is its own name.
fn part(element: &Expr) -> Result<KeyPart> {
    if let Expr::Assign(assignment) = element {
        let Expr::Path(name) = &*assignment.left else {
            return Err(Error::new_spanned(&assignment.left, diagnostics::KEY_PART_NAME));
        };
        let name = name.path.require_ident().map_err(|_| Error::new_spanned(name, diagnostics::KEY_PART_NAME))?;
        return Ok(KeyPart { name: name.to_string(), value: (*assignment.right).clone() });
    }
    let name =
        name(element).ok_or_else(|| Error::new_spanned(element.to_token_stream(), diagnostics::KEY_PART_NAME))?;
    Ok(KeyPart { name, value: element.clone() })
}

/// The name of a variable or field as it is written, without white space. It is made from the syntax, because how the compiler
/// would print the tokens may change, and names are part of keys.
fn name(value: &Expr) -> Option<String> {
    match value {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(ExprField { base, member, .. }) => {
            let base = name(base)?;
            Some(match member {
                Member::Named(field) => format!("{base}.{field}"),
                Member::Unnamed(field) => format!("{base}.{}", field.index),
            })
        }
        Expr::Reference(reference) => name(&reference.expr),
        _ => None,
    }
}
