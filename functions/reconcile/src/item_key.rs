//! The primary key of an item, in a form that can be stored and shown.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

/// An item, by its names and values.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// A primary key, also the place from which a scan goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemKey(BTreeMap<String, KeyValue>);

/// The types that an attribute of a key may have (Amazon DynamoDB Developer Guide, "Naming rules and data types").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum KeyValue {
    S(String),
    N(String),
    /// In base64.
    B(String),
}

impl ItemKey {
    /// The key that an answer names.
    pub(crate) fn from_key(key: &Item) -> Self {
        let values = key.iter().filter_map(|(name, value)| Some((name.clone(), KeyValue::of(value)?)));
        Self(values.collect())
    }

    /// The key of an item in a table with these key attributes.
    pub(crate) fn of(item: &Item, attributes: &[String]) -> Self {
        let values = attributes.iter().filter_map(|name| Some((name.clone(), KeyValue::of(item.get(name)?)?)));
        Self(values.collect())
    }

    pub(crate) fn to_key(&self) -> Item {
        self.0.iter().map(|(name, value)| (name.clone(), value.to_attribute())).collect()
    }

    /// For people, and to tell items apart.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}={}", value.text())).collect::<Vec<_>>().join(" ")
    }
}

impl KeyValue {
    fn of(value: &AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::S(text) => Some(Self::S(text.clone())),
            AttributeValue::N(digits) => Some(Self::N(digits.clone())),
            AttributeValue::B(bytes) => Some(Self::B(STANDARD.encode(bytes))),
            _ => None,
        }
    }

    fn to_attribute(&self) -> AttributeValue {
        match self {
            Self::S(text) => AttributeValue::S(text.clone()),
            Self::N(digits) => AttributeValue::N(digits.clone()),
            Self::B(text) => AttributeValue::B(Blob::new(STANDARD.decode(text).unwrap_or_default())),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::S(text) | Self::N(text) | Self::B(text) => text,
        }
    }
}

/// Any value as text, with its type, so that no two different ones have one text; `None` where there is no value.
pub(crate) fn value_text(value: &AttributeValue) -> Option<String> {
    match value {
        AttributeValue::Bool(value) => Some(format!("bool:{value}")),
        value => KeyValue::of(value).map(|value| match value {
            KeyValue::S(text) => format!("s:{text}"),
            KeyValue::N(text) => format!("n:{text}"),
            KeyValue::B(text) => format!("b:{text}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_stored_form() {
        let item = Item::from([
            ("pk".to_owned(), AttributeValue::S("a".to_owned())),
            ("sk".to_owned(), AttributeValue::N("7".to_owned())),
            ("bin".to_owned(), AttributeValue::B(Blob::new([0, 255]))),
            ("other".to_owned(), AttributeValue::Bool(true)),
        ]);
        let names = ["pk", "sk", "bin"].map(str::to_owned);
        let key = ItemKey::of(&item, &names);
        let stored = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<ItemKey>(&stored).unwrap(), key);
        let mut back = key.to_key();
        assert_eq!(back.len(), 3);
        back.insert("other".to_owned(), AttributeValue::Bool(true));
        assert_eq!(back, item);
        assert_eq!(key.text(), "bin=AP8= pk=a sk=7");
    }
}
