//! What tells customers.

use lambda_idempotency::{Attempt, IdempotencyKey};
use lambda_runtime::Error;
use serde::Serialize;

use crate::{
    callee::{CallError, Callee},
    claim::Claim,
};

/// A notifier over HTTP that honours idempotency keys: `POST {base}/v1/notifications`.
pub(crate) struct Notifier(Callee);

/// It is not known that the notification was sent.
#[derive(Debug, thiserror::Error)]
#[error("the notifier did not confirm: {0}")]
pub(crate) struct NotifyError(#[from] pub(crate) CallError);

/// "We have received your claim." Nothing but the claim's id is in it: whichever attempt or message brings it about, the notifier gets
/// the same under the same key.
#[derive(Serialize)]
struct ClaimReceived<'a> {
    notification: &'static str,
    tenant: &'a str,
    claim_id: &'a str,
}

impl Notifier {
    /// The notifier at the URL in the environment variable of this name.
    pub(crate) fn new(variable: &str, base: &str) -> Result<Self, Error> {
        Callee::new(variable, base, "v1/notifications").map(Self)
    }

    /// Tells that a claim was received.
    ///
    /// # Errors
    ///
    /// [`NotifyError`] says whether it may have been told.
    pub(crate) async fn claim_received(
        &self,
        claim: &Claim,
        key: &IdempotencyKey,
        attempt: &Attempt,
    ) -> Result<(), NotifyError> {
        let (tenant, claim_id) = (claim.tenant.as_str(), claim.claim_id.as_str());
        let body = ClaimReceived { notification: "claim-received", tenant, claim_id };
        self.0.post(&body, Some(key), attempt).await?;
        Ok(())
    }
}
