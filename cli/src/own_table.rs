//! A table of the user's own.

use std::str::FromStr;

/// A table with string keys that a function of one's own writes to. Its text is `NAME:KEY` or `NAME:KEY:SORT_KEY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnTable {
    /// The table's name.
    pub name: String,
    /// The partition key's name.
    pub partition_key: String,
    /// The sort key's name, if there is one.
    pub sort_key: Option<String>,
}

impl FromStr for OwnTable {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<_> = text.split(':').map(str::to_owned).collect();
        let (name, partition_key, sort_key) = match <[String; 2]>::try_from(parts) {
            Ok([name, key]) => (name, key, None),
            Err(parts) => match <[String; 3]>::try_from(parts) {
                Ok([name, key, sort_key]) => (name, key, Some(sort_key)),
                Err(_) => return Err(EXPECTED),
            },
        };
        let is_named = !partition_key.is_empty() && sort_key.as_ref().is_none_or(|key| !key.is_empty());
        // "Supported data types and naming rules in Amazon DynamoDB".
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
        match is_named && (3..=255).contains(&name.len()) && name.chars().all(is_name) {
            true => Ok(Self { name, partition_key, sort_key }),
            false => Err(EXPECTED),
        }
    }
}

const EXPECTED: &str = "expected NAME:KEY or NAME:KEY:SORT_KEY, such as invoices:invoice_id, with a name of 3 to 255 letters, digits, _, - and .";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_its_name_and_its_keys() {
        let table = |name: &str, key: &str, sort_key: Option<&str>| OwnTable {
            name: name.to_owned(),
            partition_key: key.to_owned(),
            sort_key: sort_key.map(str::to_owned),
        };
        assert_eq!("invoices:invoice_id".parse(), Ok(table("invoices", "invoice_id", None)));
        assert_eq!("my.table-1:pk:sk".parse(), Ok(table("my.table-1", "pk", Some("sk"))));
        for text in
            ["", "invoices", "invoices:", ":id", "ab:id", "invoices:id:", "invoices:a:b:c", "in voices:id", "straße:id"]
        {
            assert_eq!(text.parse::<OwnTable>(), Err(EXPECTED), "{text}");
        }
    }
}
