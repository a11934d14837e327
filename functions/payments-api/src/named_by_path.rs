//! What a path names, by the rule for what a body names: or there would be accounts and items that no transfer and no order can name.

use lambda_idempotency::http::{Problem, ProblemType};

use crate::charge::Name;

/// The name in a path.
pub(crate) fn named_by_path(name: &str) -> Result<Name, Problem> {
    let name = Name::try_from(name.to_owned());
    name.map_err(|rule| Problem::new(ProblemType::RequestInvalid, format!("the name in the path {rule}")))
}
