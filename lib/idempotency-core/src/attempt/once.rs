//! Markers: what happens once, whichever request brings it about.

use std::future::Future;

use super::{Attempt, StepError};
use crate::{
    Claimed, Completion, Fingerprint, IdempotencyKey, OnAbandoned, Operation, Policy, RecordKey, Request,
    hash::{PartsHasher, base64url},
};

impl Attempt {
    /// Makes a call once for an id, whichever requests of this operation and scope ask for it: a notification about a claim that two
    /// messages are about. Gives whether it was made now.
    ///
    /// The marker is a record of its own, with the operation's window: it is claimed before the call and completed after it, two
    /// writes. `call` gets the marker's key, the same for all who ask for this id and never equal to one of another scope, operation or
    /// deployment, to pass on; only if an attempt is lost between the two is the call made again, with the same key, and under
    /// [`OnAbandoned::Reject`] not even then. So let what it sends depend on the id alone: whoever makes it, the callee gets the same.
    ///
    /// Dropping the future while the call runs leaves the marker to whoever asks when the attempt's lease is over.
    ///
    /// ```
    /// # use idempotency_core::{Attempt, IdempotencyKey};
    /// # type Error = Box<dyn std::error::Error + Send + Sync>;
    /// # async fn mail(_: &str, _: &IdempotencyKey) -> Result<(), Error> { Ok(()) }
    /// async fn tell(claim_id: &str, attempt: &Attempt) -> Result<(), Error> {
    ///     attempt.once("claim-received", claim_id, async |key| mail(claim_id, &key).await).await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The call's own, after which the next who asks makes it (under [`OnAbandoned::Rerun`]); or a [`StepError`].
    pub async fn once<E, F>(&self, name: &str, id: &str, call: impl FnOnce(IdempotencyKey) -> F) -> Result<bool, E>
    where
        E: From<StepError>,
        F: Future<Output = Result<(), E>>,
    {
        self.effects.may_begin(name)?;
        let marker = self.marker(name, id);
        let key = marker.call_key(name);
        let may_repeat = marker.policy.abandoned() == OnAbandoned::Rerun;
        let Some(desk) = &self.effects.desk else {
            call(key).await?;
            return Ok(true);
        };
        let in_flight = || StepError::InFlight { name: name.to_owned() };
        let claim = match desk.claim_marker(marker).await.map_err(StepError::from)? {
            Claimed::Fresh(claim) => claim,
            Claimed::Replay(_) => return Ok(false),
            Claimed::Conflict { .. } => return Err(in_flight().into()),
            _ => return Err(StepError::Uncertain { name: name.to_owned() }.into()),
        };
        if let Err(error) = call(key).await {
            // As for a step: the next who asks makes the call again, with the same key. Under other policies nobody may, for nobody
            // knows whether it was made.
            if may_repeat {
                let _ = desk.release_marker(claim).await;
            }
            return Err(error);
        }
        match desk.complete_marker(claim).await {
            // The call was made. If that is not stored, whoever asks again makes it again, with the same key.
            Completion::Stored | Completion::Unconfirmed | Completion::Vanished => Ok(true),
            Completion::Superseded(Some(_)) => Ok(false),
            _ => Err(in_flight().into()),
        }
    }

    fn marker(&self, name: &str, id: &str) -> Marker {
        let hash = PartsHasher::new("idempotency-once-v1").part(name.as_bytes()).part(id.as_bytes()).finish();
        let request = Request {
            namespace: self.namespace.clone(),
            operation: marker_operation(&self.operation, name),
            scope: self.scope.clone(),
            key: IdempotencyKey::from_hash(base64url(&hash)),
            fingerprint: Fingerprint::builder().bytes("once", name.as_bytes()).finish(),
            deadline: self.deadline,
        };
        let policy = Policy::new(self.effects.policy.window());
        let policy = match self.effects.policy.abandoned() {
            OnAbandoned::Rerun => policy,
            // A probe is about the operation, not about the marker.
            OnAbandoned::Reject | OnAbandoned::Probe => policy.on_abandoned(OnAbandoned::Reject),
        };
        Marker { request, policy }
    }
}

/// A marker to be claimed.
pub(crate) struct Marker {
    pub(crate) request: Request,
    pub(crate) policy: Policy,
}

impl Marker {
    /// The key of the call: not the marker's own, which two tenants share that ask for one id. Callees keep keys of all of them in
    /// one place.
    fn call_key(&self, name: &str) -> IdempotencyKey {
        let Request { namespace, operation, scope, key, .. } = &self.request;
        IdempotencyKey::from_hash(RecordKey::new(namespace, operation, scope, key).step_key(name, None))
    }
}

/// A marker's record stands beside those of its operation, where no request's does: theirs have a method and path, or no route.
fn marker_operation(operation: &Operation, name: &str) -> Operation {
    operation.on_route(format!("once#{name}"))
}
