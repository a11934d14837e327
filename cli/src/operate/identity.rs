//! Which record is meant.

use clap::Args;
use idempotency_core::{IdempotencyKey, KeyPart, Operation, RecordKey, Scope};

use super::{connection::Connection, error::OperateError, form::Form};

/// Which record is meant: by what its caller said, or by the partition key that a log line has.
#[derive(Clone, Debug, Args)]
pub(crate) struct Identity {
    /// The operation's name, as its attribute has it, such as create-charge.
    #[arg(long, value_name = "NAME", required_unless_present = "record", help_heading = "Which record")]
    operation: Option<String>,

    /// The operation's version.
    #[arg(long = "version", value_name = "N", default_value_t = 1, help_heading = "Which record")]
    operation_version: u32,

    /// For an HTTP operation: the method and path that it was called on, such as "POST /charges". The path is the one that arrives at
    /// the function, with its stage or prefix where there is one; another path is another record.
    #[arg(long, value_name = "METHOD PATH", help_heading = "Which record")]
    route: Option<String>,

    /// The tenant or caller: what the operation's `scope` gives, such as the JWT's claim `sub`.
    #[arg(long, value_name = "TENANT", conflicts_with = "no_scope", help_heading = "Which record")]
    scope: Option<String>,

    /// The operation has `scope = none`.
    #[arg(long, help_heading = "Which record")]
    no_scope: bool,

    /// The idempotency key as the caller sent it (without the quotes of the header).
    #[arg(long, value_name = "KEY", conflicts_with = "parts", help_heading = "Which record")]
    key: Option<String>,

    /// A part of a derived key (`key = [claim.id]` is the part `id`): NAME=TEXT, NAME:int=NUMBER or NAME:bool=true. May be repeated;
    /// their order does not count. A key with lists or tuples in it is found by --record.
    #[arg(long = "part", value_name = "NAME=VALUE", value_parser = part, help_heading = "Which record")]
    parts: Vec<Part>,

    /// The record's partition key as it stands in logs (`record`), such as prod#create-charge#v1#….
    #[arg(long, value_name = "PK", conflicts_with_all = ["operation", "route", "scope", "no_scope", "key", "parts"], help_heading = "Which record")]
    record: Option<String>,
}

/// A part of a derived key.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Text(String),
    /// Integers count by their digits, so that one type stands for all.
    Integer(i128),
    Boolean(bool),
}

const PART: &str = "expected NAME=TEXT, NAME:int=NUMBER or NAME:bool=true";

fn part(text: &str) -> Result<Part, String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(PART)?;
    let (name, value) = match name.split_once(':') {
        None => (name, Value::Text(value.to_owned())),
        Some((name, "int")) => (name, Value::Integer(value.parse().map_err(|_| PART)?)),
        Some((name, "bool")) => (name, Value::Boolean(value.parse().map_err(|_| PART)?)),
        Some(_) => return Err(PART.to_owned()),
    };
    Ok(Part { name: name.to_owned(), value })
}

impl Part {
    fn as_key_part(&self) -> &dyn KeyPart {
        match &self.value {
            Value::Text(text) => text,
            Value::Integer(integer) => integer,
            Value::Boolean(boolean) => boolean,
        }
    }
}

impl Identity {
    /// The record's place. Makes no request.
    ///
    /// # Errors
    ///
    /// [`OperateError::Usage`] when something is missing or is none.
    pub(crate) fn record_key(&self, connection: &Connection) -> Result<RecordKey, OperateError> {
        if let Some(record) = &self.record {
            return match record.split('#').count() {
                4 => Ok(RecordKey::from_stored(record)),
                _ => Err(OperateError::usage(
                    "a record's partition key has four parts, such as prod#create-charge#v1#…: copy all of it, in single quotes",
                )),
            };
        }
        let operation = Operation::new(self.operation.clone().unwrap_or_default(), self.operation_version);
        let operation = operation.map_err(OperateError::usage)?;
        let key = self.idempotency_key(&operation)?;
        let operation = match &self.route {
            Some(route) => operation.on_route(check_route(route)?),
            None => operation,
        };
        Ok(RecordKey::new(&connection.namespace()?, &operation, &self.tenant()?, &key))
    }

    /// A word about where else to look, for a record that is not there.
    pub(crate) const fn hint(&self) -> Option<&'static str> {
        match (&self.record, &self.route) {
            (None, None) => Some(
                "an HTTP operation's record also needs its --route, such as \"POST /charges\"; the parts of a derived key have the names that its \
                 attribute gives them; and --namespace and --version are the function's",
            ),
            (None, Some(_)) => {
                Some("the path must be the one that the function sees, and --namespace and --version the deployed ones")
            }
            _ => None,
        }
    }

    /// Which form the operation's results have: a route is part of an HTTP operation's record. `None` where only a partition key is known,
    /// which does not tell.
    pub(crate) const fn form(&self) -> Option<Form> {
        match (&self.record, &self.route) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(Form::Response),
            (None, None) => Some(Form::Value),
        }
    }

    fn tenant(&self) -> Result<Scope, OperateError> {
        match (&self.scope, self.no_scope) {
            (Some(tenant), _) => Scope::tenant(tenant).map_err(OperateError::usage),
            (None, true) => Ok(Scope::none()),
            (None, false) => Err(OperateError::usage(
                "whose key is it? say --scope TENANT, or --no-scope for an operation with scope = none",
            )),
        }
    }

    fn idempotency_key(&self, operation: &Operation) -> Result<IdempotencyKey, OperateError> {
        match (&self.key, self.parts.is_empty()) {
            (Some(key), _) => IdempotencyKey::new(key).map_err(OperateError::usage),
            (None, true) => {
                Err(OperateError::usage("which key? say --key, --part for each part of a derived key, or --record"))
            }
            (None, false) => {
                let derived = IdempotencyKey::derived(operation);
                let derived = self.parts.iter().fold(derived, |key, part| key.part(&part.name, part.as_key_part()));
                derived.finish().map_err(OperateError::usage)
            }
        }
    }
}

fn check_route(route: &str) -> Result<&str, OperateError> {
    match route.split_once(' ') {
        Some((method, path)) if method.bytes().all(|byte| byte.is_ascii_uppercase()) && path.starts_with('/') => {
            Ok(route)
        }
        _ => Err(OperateError::usage("expected --route with method and path, such as \"POST /charges\"")),
    }
}

#[cfg(test)]
mod tests {
    use idempotency_core::key;

    use super::*;

    #[test]
    fn parts_make_the_key_that_the_macro_makes() {
        let operation = Operation::new("charge", 1).unwrap();
        let parts = ["id=INV-42", "amount:int=1200", "urgent:bool=true"].map(|text| part(text).unwrap());
        let derived = parts
            .iter()
            .fold(IdempotencyKey::derived(&operation), |key, part| key.part(&part.name, part.as_key_part()));
        let (id, amount, urgent) = ("INV-42", 1200_u32, true);
        assert_eq!(derived.finish(), key!(operation; id, amount, urgent));
    }

    #[test]
    fn what_is_no_part_or_route_is_told() {
        for text in ["", "id", "=x", "n:int=x", "n:float=1.0", "b:bool=yes"] {
            assert_eq!(part(text).unwrap_err(), PART, "{text}");
        }
        for route in ["POST", "/charges", "post /charges", "POST charges"] {
            assert!(check_route(route).is_err(), "{route}");
        }
    }
}
