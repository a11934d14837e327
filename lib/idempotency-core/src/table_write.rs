//! A write of the user's own, staged to commit with the record.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::Serialize;
use serde_dynamo::{AttributeValue, Item, to_attribute_value, to_item};

/// A write to any table of the same account and region, staged with [`Attempt::stage`](crate::Attempt::stage). It commits with the
/// operation's result or not at all.
///
/// Values are anything that implements [`Serialize`], as `serde_dynamo` writes them.
///
/// | form | writes | twice does |
/// |---|---|---|
/// | [`put`](Self::put) | the whole item, over another one (an upsert) | the same as once |
/// | [`insert`](Self::insert) | the item, if no item has its key | is refused |
/// | [`increment`](Self::increment) | adds to a number | add twice anywhere else; once here, because it commits with the record |
/// | [`update`](Self::update) | by an update expression | what the expression does |
/// | [`delete`](Self::delete) | removes the item | the same as once |
/// | [`check`](Self::check) | nothing, but the whole commits only under its condition | |
///
/// ```
/// use idempotency_core::TableWrite;
/// use serde_json::json;
///
/// # fn main() -> Result<(), idempotency_core::StageError> {
/// let debit = TableWrite::increment("accounts", json!({ "id": "a-1" }), "balance", -500)?
///     .only_if("balance >= :amount")
///     .value(":amount", 500)?
///     .named("debit");
/// let entry = TableWrite::insert("ledger", json!({ "entry": "t-1", "amount": 500 }), "entry")?;
/// # let _ = (debit, entry); Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use = "a write does nothing unless it is staged"]
pub struct TableWrite {
    name: Option<Cow<'static, str>>,
    table: String,
    kind: TableWriteKind,
    condition: Option<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

/// What a [`TableWrite`] does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableWriteKind {
    /// Writes the whole item.
    Put(Item),
    /// Changes the item with this key.
    Update {
        /// The item's key.
        key: Item,
        /// What changes: an update expression.
        expression: String,
    },
    /// Removes the item with this key.
    Delete(Item),
    /// Writes nothing: the item with this key must meet the condition.
    Check(Item),
}

/// Why a write or event cannot be staged. Nothing is staged by the call that gives it, and nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// A value cannot be written as an item or attribute.
    #[error(
        "a value for table {table:?} cannot be stored in DynamoDB; an item or key must be a struct or map of storable values"
    )]
    Value {
        /// The table.
        table: String,
        /// Why not.
        source: serde_dynamo::Error,
    },
    /// An expression uses a placeholder without a name or value, which DynamoDB refuses.
    #[error(
        "an expression of a write to table {table:?} uses {placeholder:?}, which has no {}; give it one",
        if placeholder.starts_with('#') { "name" } else { "value" }
    )]
    Missing {
        /// The table.
        table: String,
        /// What is used.
        placeholder: String,
    },
    /// A name or value is given that no expression uses, which DynamoDB refuses.
    #[error(
        "a write to table {table:?} gives {placeholder:?}, which none of its expressions uses; leave it out, or write it with the same sign: a name begins with '#', a value with ':'"
    )]
    Unused {
        /// The table.
        table: String,
        /// What is given.
        placeholder: String,
    },
    /// There are too many writes for one transaction.
    #[error(
        "more than {} writes and events are staged; DynamoDB commits 100 together, one of them is the record",
        StageError::MAX_WRITES
    )]
    TooMany,
    /// An item is too large.
    #[error(
        "an item of {size} bytes for table {table:?} is larger than an item may be ({} bytes)",
        StageError::MAX_ITEM
    )]
    ItemTooLarge {
        /// The table.
        table: String,
        /// The item's size in bytes, as DynamoDB counts it.
        size: usize,
    },
    /// All together is too large for one transaction.
    #[error(
        "{size} bytes are staged; DynamoDB commits 4 MB together, of which {} bytes are left for writes and events",
        StageError::MAX_BYTES
    )]
    TooLarge {
        /// What would be staged, in bytes, as DynamoDB counts them.
        size: usize,
    },
    /// The attempt has ended, so nothing commits any more.
    #[error("the attempt has ended; stage before the handler returns, and from nothing that outlives it")]
    Ended,
}

impl StageError {
    /// How many writes and events one attempt can stage ("Amazon DynamoDB transactions: How it works": 100 actions, of which one is
    /// the record).
    pub const MAX_WRITES: usize = 99;

    /// The largest item, in bytes ("Service, account, and table quotas in Amazon DynamoDB": 400 KB).
    pub const MAX_ITEM: usize = 400 * 1024;

    /// How many bytes one attempt can stage: DynamoDB's 4 MB, without 64 KB for the record and its result.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;
}

impl TableWrite {
    /// Writes `item` whole, over one with the same key.
    ///
    /// # Errors
    ///
    /// [`StageError::Value`] unless it is a struct or map of storable values.
    pub fn put(table: impl Into<String>, item: impl Serialize) -> Result<Self, StageError> {
        let table = table.into();
        let item = stored(&table, item)?;
        Ok(Self::new(table, TableWriteKind::Put(item)))
    }

    /// Writes `item`, if no item has its key. `key_attribute` is the table's partition key.
    ///
    /// # Errors
    ///
    /// As for [`put`](Self::put).
    pub fn insert(
        table: impl Into<String>,
        item: impl Serialize,
        key_attribute: impl Into<String>,
    ) -> Result<Self, StageError> {
        Ok(Self::put(table, item)?.only_if("attribute_not_exists(#insert_key)").name("#insert_key", key_attribute))
    }

    /// Adds `by` to the number `attribute` of the item with this key; an item or number that is not there starts at 0.
    ///
    /// # Errors
    ///
    /// [`StageError::Value`] unless `key` is a struct or map of storable values and `by` is a number.
    pub fn increment(
        table: impl Into<String>,
        key: impl Serialize,
        attribute: impl Into<String>,
        by: impl Serialize,
    ) -> Result<Self, StageError> {
        Self::update(table, key, "ADD #increment_attribute :increment_by")?
            .name("#increment_attribute", attribute)
            .value(":increment_by", by)
    }

    /// Changes the item with this key by an update expression, such as `SET #status = :status`; an item that is not there begins with
    /// its key alone. See "Using update expressions in DynamoDB".
    ///
    /// # Errors
    ///
    /// [`StageError::Value`] unless `key` is a struct or map of storable values.
    pub fn update(
        table: impl Into<String>,
        key: impl Serialize,
        expression: impl Into<String>,
    ) -> Result<Self, StageError> {
        let table = table.into();
        let key = stored(&table, key)?;
        Ok(Self::new(table, TableWriteKind::Update { key, expression: expression.into() }))
    }

    /// Removes the item with this key.
    ///
    /// # Errors
    ///
    /// [`StageError::Value`] unless `key` is a struct or map of storable values.
    pub fn delete(table: impl Into<String>, key: impl Serialize) -> Result<Self, StageError> {
        let table = table.into();
        let key = stored(&table, key)?;
        Ok(Self::new(table, TableWriteKind::Delete(key)))
    }

    /// Writes nothing: all of it commits only if the item with this key meets `condition`. An item that is written as well takes its
    /// condition there; DynamoDB takes one action per item.
    ///
    /// # Errors
    ///
    /// [`StageError::Value`] unless `key` is a struct or map of storable values.
    pub fn check(
        table: impl Into<String>,
        key: impl Serialize,
        condition: impl Into<String>,
    ) -> Result<Self, StageError> {
        let table = table.into();
        let key = stored(&table, key)?;
        Ok(Self::new(table, TableWriteKind::Check(key)).only_if(condition))
    }

    fn new(table: String, kind: TableWriteKind) -> Self {
        Self { name: None, table, kind, condition: None, names: HashMap::new(), values: HashMap::new() }
    }

    /// The same write under a condition (a condition expression); several must all hold. If one does not, nothing commits, and
    /// [`Refused`](crate::Refused) says whose it was. See "DynamoDB condition and filter expressions, operators, and functions".
    pub fn only_if(mut self, condition: impl Into<String>) -> Self {
        let condition = condition.into();
        self.condition = Some(match self.condition.take() {
            None => condition,
            Some(other) => format!("({other}) AND ({condition})"),
        });
        self
    }

    /// A name for an attribute in this write's expressions, such as `#status`: for words that DynamoDB reserves.
    pub fn name(mut self, placeholder: impl Into<String>, attribute: impl Into<String>) -> Self {
        self.names.insert(placeholder.into(), attribute.into());
        self
    }

    /// A value for this write's expressions, such as `:amount`.
    ///
    /// # Errors
    ///
    /// [`StageError::Value`] when it cannot be stored.
    pub fn value(mut self, placeholder: impl Into<String>, value: impl Serialize) -> Result<Self, StageError> {
        let value =
            to_attribute_value(value).map_err(|source| StageError::Value { table: self.table.clone(), source })?;
        self.values.insert(placeholder.into(), value);
        Ok(self)
    }

    /// The same write under a name that [`Refused`](crate::Refused) gives back when its condition does not hold. Without one it has the
    /// table's.
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The name by which its refusal is told.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.table)
    }

    /// The table.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// What it does.
    pub const fn kind(&self) -> &TableWriteKind {
        &self.kind
    }

    /// Its condition.
    pub fn condition(&self) -> Option<&str> {
        self.condition.as_deref()
    }

    /// The attributes' names in its expressions.
    pub const fn names(&self) -> &HashMap<String, String> {
        &self.names
    }

    /// The values in its expressions.
    pub const fn values(&self) -> &HashMap<String, AttributeValue> {
        &self.values
    }

    /// Refuses placeholders that are used and not given, or given and not used: DynamoDB does, and with them all that commits beside.
    pub(crate) fn check_placeholders(&self) -> Result<(), StageError> {
        let update = match &self.kind {
            TableWriteKind::Update { expression, .. } => expression.as_str(),
            _ => "",
        };
        let used = || placeholders(update).chain(placeholders(self.condition.as_deref().unwrap_or_default()));
        let given = || self.names.keys().chain(self.values.keys()).map(String::as_str);
        let table = || self.table.clone();
        if let Some(placeholder) = used().find(|used| !given().any(|given| given == *used)) {
            return Err(StageError::Missing { table: table(), placeholder: placeholder.to_owned() });
        }
        match given().find(|given| !used().any(|used| used == *given)) {
            Some(placeholder) => Err(StageError::Unused { table: table(), placeholder: placeholder.to_owned() }),
            None => Ok(()),
        }
    }

    /// What it counts in a transaction, in bytes: the item, or as much of it as is known. (What an update leaves as it is, DynamoDB
    /// counts too, and refuses what is too large.)
    pub(crate) fn size(&self) -> usize {
        let values = || self.values.values().map(size_of_value).sum::<usize>();
        match &self.kind {
            TableWriteKind::Put(item) => size_of_item(item),
            TableWriteKind::Update { key, .. } => size_of_item(key) + values(),
            TableWriteKind::Delete(key) | TableWriteKind::Check(key) => size_of_item(key),
        }
    }
}

/// The placeholders in an expression: `#` or `:` and letters, digits and `_` ("Expression attribute names (aliases) in DynamoDB").
fn placeholders(expression: &str) -> impl Iterator<Item = &str> {
    let words = expression.split(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '_' | '#' | ':')));
    words.filter(|word| word.starts_with(['#', ':']))
}

/// Without values, which are the user's.
impl fmt::Debug for TableWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.kind {
            TableWriteKind::Put(_) => "put",
            TableWriteKind::Update { .. } => "update",
            TableWriteKind::Delete(_) => "delete",
            TableWriteKind::Check(_) => "check",
        };
        let mut write = f.debug_struct("TableWrite");
        write.field("name", &self.label()).field("table", &self.table).field("kind", &what).finish_non_exhaustive()
    }
}

fn stored(table: &str, value: impl Serialize) -> Result<Item, StageError> {
    to_item(value).map_err(|source| StageError::Value { table: table.to_owned(), source })
}

fn size_of_item(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + size_of_value(value)).sum()
}

/// An attribute's size ("DynamoDB item sizes and formats"); a number counts at most 21 bytes, one for two digits and one more.
fn size_of_value(value: &AttributeValue) -> usize {
    let number = |digits: &String| (digits.len().div_ceil(2) + 2).min(21);
    match value {
        AttributeValue::N(digits) => number(digits),
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::Bool(_) | AttributeValue::Null(_) => 1,
        AttributeValue::M(map) => {
            3 + map.iter().map(|(name, value)| 1 + name.len() + size_of_value(value)).sum::<usize>()
        }
        AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + size_of_value(value)).sum::<usize>(),
        AttributeValue::Ss(set) => set.iter().map(String::len).sum(),
        AttributeValue::Ns(set) => set.iter().map(number).sum(),
        AttributeValue::Bs(set) => set.iter().map(Vec::len).sum(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_add_up_and_the_table_names_a_write_that_has_no_name() {
        let insert = TableWrite::insert("ledger", json!({ "id": 1 }), "id").unwrap().only_if("a OR b");
        assert_eq!(insert.condition(), Some("(attribute_not_exists(#insert_key)) AND (a OR b)"));
        assert_eq!(insert.names()["#insert_key"], "id");
        assert_eq!(insert.label(), "ledger");
        assert_eq!(insert.named("entry").label(), "entry");
    }

    #[test]
    fn placeholders_are_used_and_given_or_neither() {
        let update = |expression| TableWrite::update("t", json!({ "id": 1 }), expression).unwrap();
        let given = |write: TableWrite| write.name("#s", "status").value(":s", 1).unwrap();
        let told = |write: TableWrite| write.check_placeholders().unwrap_err();
        let missing = |of: &str| StageError::Missing { table: "t".to_owned(), placeholder: of.to_owned() };
        let unused = |of: &str| StageError::Unused { table: "t".to_owned(), placeholder: of.to_owned() };
        assert_eq!(given(update("SET #s=:s")).check_placeholders(), Ok(()));
        assert_eq!(given(update("SET #s.a[0] = if_not_exists(b,:s)")).check_placeholders(), Ok(()));
        assert_eq!(given(update("SET a = :s").only_if("#s > :s")).check_placeholders(), Ok(()));
        assert_eq!(told(given(update("SET a = :s"))), unused("#s"));
        assert_eq!(told(given(update("SET #s = :status"))), missing(":status"));
        assert_eq!(told(update("REMOVE a").only_if("#b = a")), missing("#b"));
        assert!(missing(":status").to_string().contains("has no value"));
        assert!(missing("#b").to_string().contains("has no name"));
        let put = TableWrite::put("t", json!({ "id": 1 })).unwrap();
        assert_eq!(put.clone().check_placeholders(), Ok(()));
        assert_eq!(told(put.value("a", 1).unwrap()), unused("a"));
        let increment = TableWrite::increment("t", json!({ "id": 1 }), "n", 1).unwrap();
        assert_eq!(increment.check_placeholders(), Ok(()));
    }

    #[test]
    fn a_write_shows_no_values_in_logs() {
        let write = TableWrite::put("t", json!({ "id": "secret" })).unwrap().value(":a", "secret").unwrap();
        let shown = format!("{write:?}");
        assert!(shown.contains("put") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn what_is_no_item_is_an_error_that_names_the_table() {
        let error = TableWrite::put("ledger", 7).unwrap_err();
        assert!(matches!(&error, StageError::Value { table, .. } if table == "ledger"));
        assert!(error.to_string().contains("must be a struct or map"));
    }

    #[test]
    fn sizes_are_counted_as_dynamodb_does() {
        let size = |item| TableWrite::put("t", item).unwrap().size();
        assert_eq!(size(json!({ "id": "abc" })), 5);
        assert_eq!(size(json!({ "n": 12, "b": true, "x": null })), 4 + 2 + 2);
        assert_eq!(size(json!({ "l": ["a", "b"], "m": { "k": "v" } })), (1 + 3 + 4) + (1 + 3 + 3));
    }
}
