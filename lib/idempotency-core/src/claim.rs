//! The claim handle: the right, and the duty, to end what was begun.

use crate::{Attempt, ClaimRequest, ExecutionId, Policy, Record, Status, StoredResult, Version, Write};

/// The proof that this attempt owns its key.
///
/// Only [`Engine::claim`](crate::Engine::claim) makes one, from a reply that shows the stored record under this claim's
/// token, and it is consumed by `complete`, `fail` or `release`. It carries key, fingerprint, token and epoch, so that
/// nothing is derived again after the handler ran. Dropping it leaves the record in flight until its lease is over: the
/// attempt counts as abandoned.
#[derive(Debug)]
#[must_use = "a dropped claim counts as abandoned; complete, fail or release it"]
pub struct Claim {
    attempt: Attempt,
    record: Record,
    /// What must be stored for this claim to end; `None` when nothing may be.
    expected: Option<Version>,
    /// What an atomic claim asks for: nothing is written yet, so it is decided again when it commits.
    asks: Option<Box<(ClaimRequest, Policy)>>,
    took_over: bool,
}

/// A lost attempt's key, under [`OnAbandoned::Probe`](crate::OnAbandoned::Probe): the right to say what became of its effect.
///
/// Nothing is written yet (but for [another system's](Claim::after_a_lost_attempt) lost attempt, whose claim is), so dropping it changes
/// nothing. What is said takes the place of exactly the record that was
/// observed; if another attempt has been quicker, its word counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Abandoned {
    claim: Claim,
    observed: Version,
}

impl Claim {
    pub(crate) fn new(attempt: Attempt, record: Record) -> Self {
        let expected = Some(record.version());
        Self { attempt, record, expected, asks: None, took_over: false }
    }

    /// A claim of which nothing is written before it ends.
    pub(crate) fn atomic(
        attempt: Attempt,
        record: Record,
        observed: Option<Version>,
        request: &ClaimRequest,
        policy: &Policy,
    ) -> Self {
        Self { attempt, record, expected: observed, asks: Some(Box::new((request.clone(), *policy))), took_over: false }
    }

    /// What the handler sees of this claim.
    pub const fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// The record as this claim wrote it, or (atomic) would have.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Whether an attempt before this one was lost: its lease was over, and this one has taken its key over.
    pub const fn took_over(&self) -> bool {
        self.took_over
    }

    /// The same claim, if it has taken the key of a lost attempt over.
    pub(crate) fn taking_over(self, took_over: bool) -> Self {
        Self { took_over, ..self }
    }

    /// The same claim, if another system is known to have lost an attempt at the same operation before it: the right to say what became of
    /// that attempt's effect. `None` for an atomic claim, which has nothing that could take the place of.
    pub fn after_a_lost_attempt(self) -> Option<Abandoned> {
        let observed = self.asks.is_none().then_some(self.expected)??;
        Some(Abandoned { observed, claim: Self { took_over: true, ..self } })
    }

    /// The write that ends this claim.
    pub(crate) fn end(&self, status: Status, result: Option<StoredResult>) -> Write {
        self.write(Record { status, result, ..self.record.clone() })
    }

    /// The write of a record over what this claim expects.
    pub(crate) fn write(&self, record: Record) -> Write {
        match self.expected {
            None => Write::Insert(record),
            Some(expected) => Write::Replace { expected, record },
        }
    }

    /// What an atomic claim asks for.
    pub(crate) fn asks(&self) -> Option<&(ClaimRequest, Policy)> {
        self.asks.as_deref()
    }

    /// The same claim, which has written this record.
    pub(crate) fn wrote(self, record: Record) -> Self {
        Self { expected: Some(record.version()), record, ..self }
    }

    /// The same claim, whose record would take another one's place.
    pub(crate) fn over(self, record: Record, observed: Option<Version>) -> Self {
        Self { expected: observed, record, ..self }
    }
}

/// Two handles are equal if they would write the same over the same.
impl PartialEq for Claim {
    fn eq(&self, other: &Self) -> bool {
        (&self.record, self.expected) == (&other.record, other.expected)
    }
}

impl Eq for Claim {}

impl Abandoned {
    pub(crate) const fn new(attempt: Attempt, record: Record, observed: Version) -> Self {
        Self { claim: Claim { attempt, record, expected: Some(observed), asks: None, took_over: true }, observed }
    }

    /// The attempt that would follow the lost one. Its key and step keys are those of the lost one.
    pub const fn attempt(&self) -> &Attempt {
        &self.claim.attempt
    }

    /// The generation that the lost attempt belongs to.
    pub const fn execution(&self) -> ExecutionId {
        self.claim.record.execution
    }

    /// The effect happened: complete this claim with its result. It takes the place of the record observed.
    pub fn happened(self) -> Claim {
        self.claim
    }

    /// Whether the claim is stored, and not only the lost attempt before it.
    pub(crate) fn is_stored(&self) -> bool {
        self.claim.record.version() == self.observed
    }

    pub(crate) fn into_parts(self) -> (Attempt, Record, Version) {
        (self.claim.attempt, self.claim.record, self.observed)
    }
}
