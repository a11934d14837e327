//! Rows that Powertools for AWS Lambda has written, to be read.

use std::{collections::BTreeMap, fmt, time::Duration};

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use idempotency_core::{EpochMillis, EpochSeconds, RecordError, StoreError};
use serde_json::{Value, value::RawValue};

use crate::{deadline::Deadline, error::classify};

/// Whose Powertools has written a table's rows: they do not store results in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PowertoolsFlavour {
    /// Python, Java and .NET: a result is the text of its JSON.
    JsonText,
    /// TypeScript: a result is an attribute of its own type.
    Native,
}

/// An attribute of a row, beside its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PowertoolsAttribute {
    /// `status`
    Status,
    /// `expiration`
    Expiration,
    /// `in_progress_expiration`
    InProgressExpiration,
    /// `data`
    Data,
    /// `validation`
    Validation,
}

/// A table in which the idempotency utility of Powertools for AWS Lambda keeps its rows, and the names that it was given. It is read only.
#[derive(Clone)]
pub struct PowertoolsTable {
    client: Client,
    table: String,
    flavour: PowertoolsFlavour,
    key: String,
    sort_key: Option<(String, String)>,
    names: Names,
}

#[derive(Clone)]
struct Names {
    status: String,
    expiration: String,
    in_progress_expiration: String,
    data: String,
    validation: String,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct PowertoolsRow {
    /// Where it stands.
    pub status: PowertoolsStatus,
    /// From when on it counts for nothing.
    pub expiration: EpochSeconds,
    /// Until when the function that wrote it may be running; `None` where it did not know.
    pub in_progress_expiration: Option<EpochMillis>,
    /// What the function returned, as JSON; `null` if it has not ended or returned nothing. Where it is stored as the text of its JSON it is
    /// that very text, and elsewhere its numbers have the very digits that are stored: nothing is read into a number that may be another one.
    pub data: String,
    /// The hash of what the function was told to compare, if it was.
    pub validation: Option<String>,
}

/// Where a row stands. `EXPIRED` is never written: it is what Powertools calls a row whose expiration is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowertoolsStatus {
    /// `INPROGRESS`
    InProgress,
    /// `COMPLETED`
    Completed,
}

impl PowertoolsTable {
    /// A table with the attribute names that Powertools has by default: `id`, `status`, `expiration`, `in_progress_expiration`, `data`,
    /// `validation`.
    pub fn new(client: Client, table: impl Into<String>, flavour: PowertoolsFlavour) -> Self {
        let names = Names {
            status: "status".into(),
            expiration: "expiration".into(),
            in_progress_expiration: "in_progress_expiration".into(),
            data: "data".into(),
            validation: "validation".into(),
        };
        Self { client, table: table.into(), flavour, key: "id".into(), sort_key: None, names }
    }

    /// The same table with another name of its partition key (`key_attr`).
    #[must_use]
    pub fn key(self, name: impl Into<String>) -> Self {
        Self { key: name.into(), ..self }
    }

    /// The same table with a sort key (`sort_key_attr`), which has the ids then; all rows have this partition key (`static_pk_value`, by
    /// default `idempotency#` and the function's name).
    #[must_use]
    pub fn sort_key(self, name: impl Into<String>, partition: impl Into<String>) -> Self {
        Self { sort_key: Some((name.into(), partition.into())), ..self }
    }

    /// The same table with another name of one of its attributes (`status_attr`, `expiry_attr`, …).
    #[must_use]
    pub fn attribute(mut self, attribute: PowertoolsAttribute, name: impl Into<String>) -> Self {
        let names = &mut self.names;
        *match attribute {
            PowertoolsAttribute::Status => &mut names.status,
            PowertoolsAttribute::Expiration => &mut names.expiration,
            PowertoolsAttribute::InProgressExpiration => &mut names.in_progress_expiration,
            PowertoolsAttribute::Data => &mut names.data,
            PowertoolsAttribute::Validation => &mut names.validation,
        } = name.into();
        self
    }

    /// Reads the row with this id, by a strongly consistent read. Dropping the future changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when there is no answer within `within`, or the row cannot be read. Then nobody knows whether the old function has acted.
    pub async fn get(&self, id: &str, within: Duration) -> Result<Option<PowertoolsRow>, StoreError> {
        let get = self.client.get_item().table_name(&self.table).consistent_read(true);
        let get = match &self.sort_key {
            None => get.key(&self.key, AttributeValue::S(id.to_owned())),
            Some((sort_key, partition)) => {
                get.key(&self.key, AttributeValue::S(partition.clone())).key(sort_key, AttributeValue::S(id.to_owned()))
            }
        };
        let item = Deadline::after(within).limit(get.send()).await?.map_err(classify)?.item;
        Ok(item.map(|item| self.names.row(&item, self.flavour)).transpose()?)
    }
}

type Attributes = std::collections::HashMap<String, AttributeValue>;

impl Names {
    fn row(&self, item: &Attributes, flavour: PowertoolsFlavour) -> Result<PowertoolsRow, RecordError> {
        let invalid = |attribute| RecordError::Invalid { attribute };
        let status = match item.get(&self.status).and_then(|value| value.as_s().ok()).map(String::as_str) {
            Some("INPROGRESS") => PowertoolsStatus::InProgress,
            Some("COMPLETED") => PowertoolsStatus::Completed,
            _ => return Err(invalid("status")),
        };
        let data = match (item.get(&self.data), flavour) {
            (None, _) => "null".to_owned(),
            (Some(AttributeValue::S(text)), PowertoolsFlavour::JsonText) => {
                serde_json::from_str::<&RawValue>(text).map_err(|_| invalid("data"))?.get().to_owned()
            }
            (Some(value), _) => json(value).ok_or(invalid("data"))?,
        };
        let expiration = number(item, &self.expiration).map_err(|()| invalid("expiration"))?;
        let expiration = expiration.ok_or(RecordError::Missing { attribute: "expiration" })?;
        let in_progress = number(item, &self.in_progress_expiration).map_err(|()| invalid("in_progress_expiration"))?;
        let validation = match item.get(&self.validation) {
            None | Some(AttributeValue::Null(_)) => None,
            // TypeScript writes an empty one where nothing is validated.
            Some(AttributeValue::S(hash)) => Some(hash.clone()).filter(|hash| !hash.is_empty()),
            Some(_) => return Err(invalid("validation")),
        };
        Ok(PowertoolsRow {
            status,
            expiration: EpochSeconds::new(expiration),
            in_progress_expiration: in_progress.map(EpochMillis::new),
            data,
            validation,
        })
    }
}

/// A whole number, if it is there.
fn number(item: &Attributes, name: &str) -> Result<Option<i64>, ()> {
    match item.get(name) {
        None | Some(AttributeValue::Null(_)) => Ok(None),
        Some(AttributeValue::N(number)) => number.parse().map(Some).map_err(drop),
        Some(_) => Err(()),
    }
}

/// The JSON of an attribute, as JavaScript would have it, with sorted members; `None` for what JSON has not.
fn json(value: &AttributeValue) -> Option<String> {
    let text = |text: &str| Value::from(text).to_string();
    Some(match value {
        AttributeValue::S(value) => text(value),
        // A number of DynamoDB's has up to 38 digits, and is JSON as it is written.
        AttributeValue::N(digits) => serde_json::from_str::<&RawValue>(digits).ok()?.get().to_owned(),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Null(_) => "null".to_owned(),
        AttributeValue::L(values) => format!("[{}]", values.iter().map(json).collect::<Option<Vec<_>>>()?.join(",")),
        AttributeValue::M(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            let members = members.into_iter().map(|(name, value)| Some(format!("{}:{}", text(name), json(value)?)));
            format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => return None,
    })
}

impl fmt::Debug for PowertoolsTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PowertoolsTable").field("table", &self.table).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(attributes: &[(&str, AttributeValue)]) -> Attributes {
        let row =
            [("status", AttributeValue::S("COMPLETED".into())), ("expiration", AttributeValue::N("1796048977".into()))];
        row.iter().chain(attributes).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    fn read(attributes: &[(&str, AttributeValue)], flavour: PowertoolsFlavour) -> Result<PowertoolsRow, RecordError> {
        let client = Client::from_conf(aws_sdk_dynamodb::Config::builder().behavior_version_latest().build());
        PowertoolsTable::new(client, "old", flavour).names.row(&item(attributes), flavour)
    }

    #[test]
    fn a_row_that_cannot_be_read_is_never_taken_for_absent() {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        for (name, value) in [
            ("status", text("EXPIRED")),
            ("status", text("completed")),
            ("status", AttributeValue::N("1".into())),
            ("expiration", text("1796048977")),
            ("expiration", AttributeValue::N("1.5".into())),
            ("in_progress_expiration", text("1")),
            ("data", text("{")),
            ("data", AttributeValue::Ss(vec!["a".into()])),
            ("validation", AttributeValue::Bool(true)),
        ] {
            let read = read(&[(name, value)], PowertoolsFlavour::JsonText);
            assert!(matches!(read, Err(RecordError::Invalid { attribute }) if attribute == name), "{name}: {read:?}");
        }
    }

    #[test]
    fn a_text_is_json_or_itself_by_who_wrote_it() {
        let data = |flavour| read(&[("data", AttributeValue::S("12".into()))], flavour).unwrap().data;
        assert_eq!(data(PowertoolsFlavour::JsonText), "12");
        assert_eq!(data(PowertoolsFlavour::Native), r#""12""#);
        assert_eq!(read(&[], PowertoolsFlavour::Native).unwrap().data, "null");
    }

    #[test]
    fn a_result_keeps_every_digit_and_json_text_every_byte() {
        let text =
            r#"{"b": 123456789012345678901234567890, "a": [0.12345678901234567890, 1e400, 1.50], "a": "\ud83d"}"#;
        let stored = AttributeValue::S(format!(" {text}\n"));
        assert_eq!(read(&[("data", stored)], PowertoolsFlavour::JsonText).unwrap().data, text);
        let number = |digits: &str| AttributeValue::N(digits.into());
        let members = [
            ("b", number("123456789012345678901234567890")),
            ("a", AttributeValue::L(vec![number("0.12345678901234567890123456789"), AttributeValue::Null(true)])),
            ("\"", AttributeValue::S("\n".into())),
        ];
        let native = AttributeValue::M(members.map(|(name, value)| (name.to_owned(), value)).into());
        assert_eq!(
            read(&[("data", native)], PowertoolsFlavour::Native).unwrap().data,
            r#"{"\"":"\n","a":[0.12345678901234567890123456789,null],"b":123456789012345678901234567890}"#
        );
    }
}
