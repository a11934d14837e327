use serde::{Deserialize, Serialize};

/// A charge as the provider answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Charge {
    /// `ch_` and a number.
    pub id: String,
    /// Always `charge`.
    pub object: String,
    /// In the currency's minor unit.
    pub amount: u64,
    /// As in the request.
    pub currency: String,
    /// As in the request.
    pub customer: String,
    /// The account that was charged for.
    pub account: String,
    /// Seconds since the Unix epoch.
    pub created: u64,
}

/// A charge in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// The charge's id.
    pub id: String,
    /// The account that was charged for.
    pub account: String,
    /// The request's idempotency key, if it had one.
    pub key: Option<String>,
    /// In the currency's minor unit.
    pub amount: u64,
    /// As in the request.
    pub currency: String,
    /// As in the request.
    pub customer: String,
    /// Seconds since the Unix epoch.
    pub created: u64,
}

impl LedgerEntry {
    pub(super) fn charge(&self) -> Charge {
        Charge {
            id: self.id.clone(),
            object: "charge".to_owned(),
            amount: self.amount,
            currency: self.currency.clone(),
            customer: self.customer.clone(),
            account: self.account.clone(),
            created: self.created,
        }
    }
}
