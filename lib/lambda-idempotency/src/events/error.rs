//! A delivery that must be repeated, or given up by its source.

use lambda_http::lambda_runtime::Diagnostic;

use super::{Outcome, Settled};

/// Why a delivery failed: the function's error, after which its source delivers again or, after its retries, hands the event to a
/// dead-letter queue or an on-failure destination. It repeats nothing of the record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// Records are not done, and the source takes an answer for the whole event only.
    #[error("{failed} of {records} records are not done, the first because of: {}", first.name())]
    NotDone {
        /// How many are not done.
        failed: usize,
        /// How many records the event has.
        records: usize,
        /// What became of the first of them.
        first: Outcome,
    },
    /// A record is not done and has no identifier by which the source could be told. An empty or unknown one would fail the whole
    /// batch as well.
    #[error("a record that is not done has no identifier, so the whole batch has to come again")]
    NoIdentifier,
}

impl DeliveryError {
    /// Nothing, if all records are done.
    ///
    /// # Errors
    ///
    /// [`DeliveryError::NotDone`] if one is not.
    pub fn unless_all_done<R>(settled: &[Settled<R>]) -> Result<(), Self> {
        let mut failed = settled.iter().filter(|settled| !settled.is_done);
        match failed.next() {
            None => Ok(()),
            Some(first) => {
                Err(Self::NotDone { failed: 1 + failed.count(), records: settled.len(), first: first.outcome })
            }
        }
    }
}

/// What Lambda is told, and what stands in a dead-letter queue: `Idempotency.mismatch`, and the message.
impl From<DeliveryError> for Diagnostic {
    fn from(error: DeliveryError) -> Self {
        let kind = match error {
            DeliveryError::NotDone { first, .. } => first.name(),
            DeliveryError::NoIdentifier => "no-identifier",
        };
        Self { error_type: format!("Idempotency.{kind}"), error_message: error.to_string() }
    }
}
