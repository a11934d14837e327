//! The conditions of the two writes of a record.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_core::Write;

use crate::item::{attribute, binary, number, string};

/// The condition under which a record is put.
pub(crate) struct PutCondition {
    pub(crate) expression: &'static str,
    pub(crate) names: HashMap<String, String>,
    /// `None` where there is none: an empty map is refused.
    pub(crate) values: Option<HashMap<String, AttributeValue>>,
}

impl PutCondition {
    pub(crate) fn of(write: &Write) -> Self {
        let names = |names: &[(&str, &str)]| names.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        match write {
            Write::Insert(_) => Self::absent(),
            Write::Replace { expected, .. } => Self {
                expression: "#owner = :owner AND #status = :status AND #epoch = :epoch",
                names: names(&[
                    ("#owner", attribute::OWNER),
                    ("#status", attribute::STATUS),
                    ("#epoch", attribute::EPOCH),
                ]),
                values: Some(HashMap::from([
                    (":owner".to_owned(), binary(expected.owner.as_bytes())),
                    (":status".to_owned(), string(expected.status.as_str())),
                    (":epoch".to_owned(), number(expected.epoch.get())),
                ])),
            },
        }
    }

    /// Of an item that must not be there.
    pub(crate) fn absent() -> Self {
        let names = HashMap::from([("#pk".to_owned(), attribute::PK.to_owned())]);
        Self { expression: "attribute_not_exists(#pk)", names, values: None }
    }
}
