//! How much is sent, and where to.

use serde::{Deserialize, Serialize};

/// How many of an item are ordered: 1 to 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u32")]
pub(crate) struct Quantity(u32);

/// Where a parcel is sent, as the carrier reads it: 1 to 256 characters of one line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Address(String);

impl Quantity {
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl Address {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<u32> for Quantity {
    type Error = &'static str;

    fn try_from(quantity: u32) -> Result<Self, Self::Error> {
        match quantity {
            1..=10_000 => Ok(Self(quantity)),
            _ => Err("must be from 1 to 10000"),
        }
    }
}

impl TryFrom<String> for Address {
    type Error = &'static str;

    fn try_from(address: String) -> Result<Self, Self::Error> {
        let is_line = !address.trim().is_empty() && !address.chars().any(char::is_control);
        match is_line && address.chars().count() <= 256 {
            true => Ok(Self(address)),
            false => Err("must be one line of 1 to 256 characters"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_of_something() {
        let accepted = |quantity| Quantity::try_from(quantity).is_ok();
        assert_eq!([0, 1, 10_000, 10_001].map(accepted), [false, true, true, false]);
    }

    #[test]
    fn an_address_is_a_line_that_is_not_too_long() {
        let accepted = |address: &str| Address::try_from(address.to_owned()).is_ok();
        assert!(accepted("1 Ärztestraße") && accepted(&"ß".repeat(256)));
        for refused in ["", " ", "1 Tea\nStreet", &"a".repeat(257)] {
            assert!(!accepted(refused), "{refused:?}");
        }
    }
}
