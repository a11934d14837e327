//! A charge, as a caller asks for it and as it is stored.

use serde::{Deserialize, Serialize};

/// What a caller asks for. Anything else in the body is refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCharge {
    pub(crate) amount: Amount,
    pub(crate) currency: Currency,
    pub(crate) customer: Name,
}

/// A charge that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Charge {
    /// The provider's transaction id.
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) asked: NewCharge,
}

/// An amount in the currency's minor unit, from 1 to 99,999,999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u64")]
pub(crate) struct Amount(u64);

/// A currency: three capital letters (ISO 4217).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub(crate) struct Currency(String);

/// The name of a customer, an account or an item: 1 to 64 letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

impl Amount {
    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

impl Currency {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<u64> for Amount {
    type Error = &'static str;

    fn try_from(amount: u64) -> Result<Self, Self::Error> {
        match amount {
            1..=99_999_999 => Ok(Self(amount)),
            _ => Err("must be from 1 to 99999999, in the currency's minor unit"),
        }
    }
}

impl TryFrom<String> for Currency {
    type Error = &'static str;

    fn try_from(currency: String) -> Result<Self, Self::Error> {
        match currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            true => Ok(Self(currency)),
            false => Err("must be three capital letters, such as EUR"),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        match plain && (1..=64).contains(&name.len()) {
            true => Ok(Self(name)),
            false => Err("must be 1 to 64 letters, digits, '_' and '-'"),
        }
    }
}
