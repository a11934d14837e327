//! A staged write whose condition did not hold.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_dynamo::{Item, from_item};

/// A staged write whose condition did not hold. Nothing of what was staged has been written.
#[derive(Clone, PartialEq, Eq)]
pub struct Refused {
    name: String,
    item: Option<Item>,
}

impl Refused {
    /// The write of this name, refused by this item.
    pub fn new(name: impl Into<String>, item: Option<Item>) -> Self {
        Self { name: name.into(), item }
    }

    /// The write's name: [`TableWrite::named`](crate::TableWrite::named), or its table's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The item that did not meet the condition, as it was when DynamoDB looked; `None` when there is none.
    pub const fn item(&self) -> Option<&Item> {
        self.item.as_ref()
    }

    /// The same as a type of your own.
    ///
    /// # Errors
    ///
    /// When there is an item and it is not of this type.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_dynamo::Error> {
        self.item.clone().map(from_item).transpose()
    }
}

/// Without the item, which is the user's.
impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("name", &self.name).field("has_item", &self.item.is_some()).finish()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the condition of the staged write {:?} does not hold; nothing was written", self.name)
    }
}

impl std::error::Error for Refused {}
