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
    /// In the currency's minor unit.
    pub(crate) balance: u64,
}

/// An account, as a caller sees it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Account {
    pub(crate) account: String,
    pub(crate) balance: i64,
}
