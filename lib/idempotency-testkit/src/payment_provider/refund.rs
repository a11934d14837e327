use serde::{Deserialize, Serialize};

use super::{answer::Answer, state::State};

/// A charge that was given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refund {
    /// `re_` and a number.
    pub id: String,
    /// The charge.
    pub charge: String,
    /// The account that was charged for.
    pub account: String,
    /// The request's idempotency key, if it had one.
    pub key: Option<String>,
    /// In the currency's minor unit: the whole charge.
    pub amount: u64,
}

impl State {
    /// Gives a charge back. The same key gives the same refund; another key finds the charge given back already.
    pub(super) fn refund(&mut self, account: &str, key: Option<&str>, charge: &str) -> Answer {
        let known = |refund: &&Refund| refund.account == account && key.is_some() && refund.key.as_deref() == key;
        if let Some(refund) = self.refunds.iter().find(known).filter(|_| !self.behaviour.ignore_keys) {
            return match refund.charge == charge {
                true => Answer::refunded(refund).replayed(),
                false => Answer::other_parameters(key.unwrap_or_default()),
            };
        }
        let Some(made) = self.ledger.iter().find(|entry| entry.account == account && entry.id == charge) else {
            return Answer::missing_charge(charge);
        };
        if self.refunds.iter().any(|refund| refund.charge == charge) {
            return Answer::already_refunded(charge);
        }
        let refund = Refund {
            id: format!("re_{:08}", self.refunds.len() + 1),
            charge: charge.to_owned(),
            account: account.to_owned(),
            key: key.map(ToOwned::to_owned),
            amount: made.amount,
        };
        self.refunds.push(refund.clone());
        Answer::refunded(&refund)
    }
}
