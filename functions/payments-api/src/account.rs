//! Accounts and transfers, as a caller asks for them and as they are stored.

use serde::{Deserialize, Serialize};

use crate::charge::{Amount, Name};

/// What a caller asks for. Anything else in the body is refused.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTransfer {
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) amount: Amount,
}

/// A transfer that was made.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Transfer {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) asked: NewTransfer,
}

/// An account to be opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAccount {
    pub(crate) balance: Balance,
}

/// What an account is opened with, in the currency's minor unit: up to 999,999,999,999.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct Balance(u64);

impl Balance {
    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for Balance {
    type Error = &'static str;

    fn try_from(balance: u64) -> Result<Self, Self::Error> {
        match balance {
            0..=999_999_999_999 => Ok(Self(balance)),
            _ => Err("must be at most 999999999999, in the currency's minor unit"),
        }
    }
}

/// An account, as a caller sees it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Account {
    pub(crate) account: String,
    pub(crate) balance: i64,
}
