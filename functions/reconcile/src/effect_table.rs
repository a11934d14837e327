//! What is known of a table of effects.

use serde::{Deserialize, Serialize};

/// A table of effects, as the environment describes it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectTable {
    pub(crate) table: String,
    #[serde(default)]
    pub(crate) business_key: Vec<String>,
    #[serde(default)]
    pub(crate) record: Option<String>,
    #[serde(default)]
    pub(crate) created_at: Option<String>,
    #[serde(default)]
    pub(crate) operations: Vec<String>,
}

/// Why a description means nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EffectTableError {
    #[error(
        "{0}; it must be a JSON array of objects with the members table, business_key, record, created_at and operations"
    )]
    Json(#[from] serde_json::Error),
    #[error("table {0:?} has neither business_key nor record: nothing would be looked for in it")]
    Nothing(String),
    #[error("table {0:?} has operations and no record: say in which attribute the record's partition key is")]
    NoRecord(String),
    #[error("table {0:?} is there twice")]
    Twice(String),
}

/// Reads the descriptions.
pub(crate) fn effect_tables(text: &str) -> Result<Vec<EffectTable>, EffectTableError> {
    let tables: Vec<EffectTable> = serde_json::from_str(text)?;
    for (index, table) in tables.iter().enumerate() {
        let name = || table.table.clone();
        if table.business_key.is_empty() && table.record.is_none() {
            return Err(EffectTableError::Nothing(name()));
        }
        if !table.operations.is_empty() && table.record.is_none() {
            return Err(EffectTableError::NoRecord(name()));
        }
        if tables.iter().take(index).any(|other| other.table == table.table) {
            return Err(EffectTableError::Twice(name()));
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_what_is_looked_for() {
        let all = r#"[{"table": "charges", "business_key": ["tenant", "order"], "record": "r", "created_at": "at", "operations": ["charge"]}]"#;
        assert_eq!(effect_tables(all).unwrap()[0].business_key, ["tenant", "order"]);
        assert_eq!(effect_tables("[]").unwrap(), []);
        for (text, told) in [
            ("charges", "must be a JSON array"),
            (r#"[{"table": "a", "key": ["b"]}]"#, "unknown field"),
            (r#"[{"table": "a"}]"#, "nothing would be looked for"),
            (r#"[{"table": "a", "business_key": ["b"], "operations": ["c"]}]"#, "no record"),
            (r#"[{"table": "a", "record": "b"}, {"table": "a", "record": "c"}]"#, "twice"),
        ] {
            let error = effect_tables(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
