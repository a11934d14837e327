//! A record in words.

use std::time::Duration;

use idempotency_core::{
    ClaimRequest, Decision, EpochMillis, ExecutionId, OnAbandoned, OwnerToken, Policy, Record, RecordKey, Status,
    StoredResult, Window, decide,
};
use serde_json::{Value, json};

use super::time::{relative, span, utc, utc_seconds};

/// What the record's state is called where operators look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum State {
    /// An attempt may be at work.
    InFlight,
    /// The lease of an attempt that was not ended is over: it is lost, and nobody knows whether its effect happened.
    Uncertain,
    /// The last attempt said that nothing happened.
    Released,
    Completed,
    Failed,
    /// What was done before a failure is being undone.
    Compensating,
    /// Whoever undid what was done before a failure is gone.
    CompensatingOverdue,
    Stuck,
    /// Its time is over; it counts for nothing.
    Expired,
}

impl State {
    pub(crate) const ALL: [Self; 9] = [
        Self::InFlight,
        Self::Uncertain,
        Self::Released,
        Self::Completed,
        Self::Failed,
        Self::Compensating,
        Self::CompensatingOverdue,
        Self::Stuck,
        Self::Expired,
    ];

    /// The state of a record at a time.
    pub(crate) fn of(record: &Record, now: EpochMillis) -> Self {
        let lease_runs = record.status.is_leased() && now < record.lease_until;
        if now >= record.expires_at.to_millis() && !lease_runs {
            return Self::Expired;
        }
        match record.status {
            Status::InFlight if lease_runs => Self::InFlight,
            Status::InFlight => Self::Uncertain,
            Status::Released => Self::Released,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Compensating if lease_runs => Self::Compensating,
            Status::Compensating => Self::CompensatingOverdue,
            Status::Stuck => Self::Stuck,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::InFlight => "in-flight",
            Self::Uncertain => "uncertain",
            Self::Released => "released",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Compensating => "compensating",
            Self::CompensatingOverdue => "compensating-overdue",
            Self::Stuck => "stuck",
            Self::Expired => "expired",
        }
    }

    /// Whether it waits for somebody.
    pub(crate) const fn needs_attention(self) -> bool {
        matches!(self, Self::Uncertain | Self::CompensatingOverdue | Self::Stuck)
    }

    /// What it means, in a sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::InFlight => "An attempt has claimed the key and may still be running.",
            Self::Uncertain => {
                "An attempt was lost: its lease is over and it has not ended. Nobody knows whether its effect happened. \
                 (Under `on_abandoned = reject` callers get `outcome-unknown` until it is resolved; under `rerun` and `probe` the next \
                 request goes on by itself. The record does not know which.)"
            }
            Self::Released => {
                "The last attempt ended and said that its effect did not happen. The next request runs at once; steps that are done stay done."
            }
            Self::Completed => {
                "The operation took effect, and its result is stored. It does not change before it expires."
            }
            Self::Failed => {
                "The operation failed for good, and the failure is stored. It does not change before it expires."
            }
            Self::Compensating => "The operation failed for good, and what it did before is being undone now.",
            Self::CompensatingOverdue => {
                "The operation failed for good, and whoever was undoing what it did before is gone. The next request with the same key goes \
                 on with that; if nobody sends one, it stays half undone."
            }
            Self::Stuck => {
                "The operation failed for good, and something that it did before could not be undone. Nothing happens until an operator acts."
            }
            Self::Expired => {
                "The record has expired and counts for nothing; DynamoDB deletes it within days. The key is new."
            }
        }
    }
}

/// What a duplicate (the same request, sent again) would get now, for each choice of `on_abandoned`.
pub(crate) fn duplicate_gets(record: &Record, now: EpochMillis) -> [(&'static str, String); 3] {
    [("rerun", OnAbandoned::Rerun), ("reject", OnAbandoned::Reject), ("probe", OnAbandoned::Probe)].map(
        |(name, choice)| {
            let request = ClaimRequest {
                key: record.key.clone(),
                fingerprint: record.fingerprint,
                // Nobody's: only the record's own owner is recognised.
                token: OwnerToken::from_bytes([0; 16]),
                execution: ExecutionId::from_bytes([0; 16]),
                deadline: now + Duration::from_secs(10),
            };
            (name, answer(&decide(Some(record), &request, now, &Policy::new(Window::http()).on_abandoned(choice))))
        },
    )
}

fn answer(decision: &Decision) -> String {
    match decision {
        Decision::Replay => "the stored result; nothing runs".into(),
        Decision::Conflict { lease_left, .. } => {
            format!("conflict (HTTP 409): an attempt may be running, for {} at most", span(*lease_left))
        }
        Decision::TakeOver { .. } => "takes over and runs the handler again, with the same key to pass on".into(),
        Decision::Resume { .. } => "runs the handler, as the next attempt of the same generation".into(),
        Decision::Expired { .. } | Decision::Insert(_) => "runs the handler, as if the key were new".into(),
        Decision::Uncertain => "outcome-unknown (HTTP 500), until it is resolved".into(),
        Decision::Probe { .. } => {
            "asks the operation's probe whether the effect happened, and goes by its answer".into()
        }
        Decision::Compensate { .. } => "goes on undoing, then gets the stored failure; the handler does not run".into(),
        Decision::Stuck => "compensation-stuck (HTTP 500), until it is resolved".into(),
        Decision::Mismatch => "mismatch (HTTP 422)".into(),
        Decision::Own => "its own claim".into(),
    }
}

/// The record's facts, for scripts. Never the result itself.
pub(crate) fn facts(record: &Record, now: EpochMillis) -> Value {
    let state = State::of(record, now);
    json!({
        "record": record.key.as_str(),
        "operation": operation(&record.key),
        "state": state.name(),
        "status": record.status.as_str(),
        "attempt": record.attempt.get(),
        "epoch": record.epoch.get(),
        "owner": record.owner.to_string(),
        "execution": record.execution.to_string(),
        "lease_until": utc(record.lease_until),
        "lease_until_ms": record.lease_until.get(),
        "lease_runs": record.status.is_leased() && now < record.lease_until,
        "expires_at": utc_seconds(record.expires_at),
        "expires_at_s": record.expires_at.get(),
        "result": record.result.as_ref().map(result),
    })
}

fn result(result: &StoredResult) -> Value {
    match result {
        StoredResult::Inline(encoded) => json!({ "stored_bytes": encoded.len(), "codec": codec(encoded), "parts": 0 }),
        StoredResult::Parts(parts) => json!({ "stored_bytes": parts.length, "codec": null, "parts": parts.count }),
    }
}

/// The name of a stored result's codec, which its first byte tells.
pub(crate) fn codec(encoded: &[u8]) -> &'static str {
    match encoded.first() {
        Some(0) => "plain",
        Some(1) => "zstd",
        _ => "unknown",
    }
}

/// `create-charge#v1`, as the partition key has it.
pub(crate) fn operation(key: &RecordKey) -> String {
    let mut parts = key.as_str().split('#').skip(1);
    match (parts.next(), parts.next()) {
        (Some(name), Some(version)) => format!("{name}#{version}"),
        _ => String::new(),
    }
}

/// The lines of a record that say when and how often.
pub(crate) fn lines(record: &Record, now: EpochMillis) -> Vec<(&'static str, String)> {
    let lease = match (record.status.is_leased(), now < record.lease_until) {
        (true, true) => format!("until {} ({})", utc(record.lease_until), relative(record.lease_until, now)),
        (true, false) => format!("over since {} ({})", utc(record.lease_until), relative(record.lease_until, now)),
        (false, _) => format!("none now; the last one was until {}", utc(record.lease_until)),
    };
    let expires = record.expires_at.to_millis();
    let result = match &record.result {
        None if record.status.is_terminal() => "none could be stored; replays say so".into(),
        None => "none yet".into(),
        Some(StoredResult::Inline(encoded)) => format!("{} bytes, {}, in the record", encoded.len(), codec(encoded)),
        Some(StoredResult::Parts(parts)) => {
            format!("{} bytes in {} parts beside the record", parts.length, parts.count)
        }
    };
    vec![
        ("attempt", format!("{} of its generation", record.attempt.get())),
        ("epoch", record.epoch.get().to_string()),
        ("lease", lease),
        ("expires", format!("{} ({})", utc_seconds(record.expires_at), relative(expires, now))),
        ("result", result),
    ]
}

#[cfg(test)]
mod tests;
