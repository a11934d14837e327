//! Whether a case ended as promised. Pure.

use idempotency_core::Record;

use super::case::{Case, Policy};
use crate::client::Answer;

/// What was seen of one case.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// Whether the fault happened.
    pub(super) struck: bool,
    /// What the first caller was told.
    pub(super) first: Answer,
    /// What a caller was told who repeated the request until the answer was definite; `None` if it never was.
    pub(super) definite: Option<Answer>,
    /// What that caller was told upon asking once more, after all late writes and thawed processes.
    pub(super) again: Answer,
    /// How often the provider was asked to charge.
    pub(super) runs: usize,
    /// How often it charged.
    pub(super) charges: usize,
    /// The record when the definite answer came.
    pub(super) record: Option<Record>,
    /// The record at the end.
    pub(super) record_at_the_end: Option<Record>,
}

/// What of an answer must be the same each time.
type Told<'a> = (u16, &'a str, Option<&'a str>);

impl Answer {
    fn told(&self) -> Told<'_> {
        (self.status, &self.body, self.location.as_deref())
    }

    /// Whether asking again will not change the answer.
    pub(super) fn is_definite(&self, policy: Policy) -> bool {
        match self.status {
            409 => false,
            // Under `probe`, the next request asks again.
            500.. => self.is_unknown_outcome() && policy == Policy::Reject,
            _ => true,
        }
    }

    /// The stable answer to a request whose attempt was lost under `reject`.
    pub(super) fn is_unknown_outcome(&self) -> bool {
        self.status == 500 && self.body.contains("outcome-unknown")
    }

    /// Whether it is the operation's result, which is stored and replayed. A mismatch is told anew each time.
    fn is_result(&self) -> bool {
        !matches!(self.status, 409 | 422 | 500..)
    }
}

/// The first thing that is not as promised, in words. `undisturbed` is the same path without the fault.
pub(super) fn violation(case: &Case, undisturbed: &Observed, seen: &Observed) -> Option<String> {
    if !seen.struck {
        return Some("the fault did not happen: the request that it waited for was not sent".to_owned());
    }
    let Some(definite) = &seen.definite else {
        return Some("no definite answer, however often the request was repeated".to_owned());
    };
    let violation = match case.may_lose_the_attempt() {
        true => after_a_lost_attempt(case, undisturbed, seen, definite),
        false => unnoticed(undisturbed, seen, definite),
    };
    violation.or_else(|| stable(case, seen, definite))
}

/// A fault on the way to the store alone: the caller gets the very same answers at the same price.
fn unnoticed(undisturbed: &Observed, seen: &Observed, definite: &Answer) -> Option<String> {
    let kind = |answer: &Answer| (answer.status, answer.replayed);
    let expected = (kind(&undisturbed.first), undisturbed.definite.as_ref().map(kind));
    let got = (kind(&seen.first), Some(kind(definite)));
    if got != expected {
        return Some(format!("answers (status, replayed) {got:?}, without the fault {expected:?}"));
    }
    let (got, expected) = ((seen.runs, seen.charges), (undisturbed.runs, undisturbed.charges));
    (got != expected).then(|| format!("(runs, charges) {got:?}, without the fault {expected:?}"))
}

/// A crash, a frozen process, a provider without an answer: one attempt more under `rerun` and `probe`, none under `reject`.
fn after_a_lost_attempt(case: &Case, undisturbed: &Observed, seen: &Observed, definite: &Answer) -> Option<String> {
    let lost = match case.policy {
        Policy::Rerun | Policy::Probe => 1,
        Policy::Reject => 0,
    };
    if seen.runs > undisturbed.runs + lost {
        return Some(format!("{} runs, at most {} are allowed", seen.runs, undisturbed.runs + lost));
    }
    if seen.charges > undisturbed.charges {
        return Some(format!("{} charges, at most {} are allowed", seen.charges, undisturbed.charges));
    }
    let expected = undisturbed.definite.as_ref().map(|answer| answer.status);
    let as_usual = Some(definite.status) == expected;
    if as_usual && definite.status == 201 && seen.charges < undisturbed.charges {
        return Some("201, and nothing was charged".to_owned());
    }
    match (as_usual, case.policy) {
        (true, _) => None,
        (false, Policy::Reject) if definite.is_unknown_outcome() => None,
        (false, _) => Some(format!("definite answer {}, without the fault {expected:?}", definite.status)),
    }
}

/// What was told once is told again, and an ended record stays as it is.
fn stable(case: &Case, seen: &Observed, definite: &Answer) -> Option<String> {
    let Observed { first, again, record, record_at_the_end, .. } = seen;
    // An attempt that was only late knows the outcome that nobody else could know: it may end its record yet, with a result
    // or by saying that there was no effect, and then the next attempt runs.
    let resolved_late = definite.is_unknown_outcome() && case.blow.hits_the_process() && again.is_result();
    let told_before = if resolved_late { Some(first).filter(|first| first.is_result()) } else { Some(definite) };
    if let Some(before) = told_before.filter(|before| before.told() != again.told()) {
        return Some(format!("told {:?}, and then {:?}", before.told(), again.told()));
    }
    if told_before.is_some() && again.is_result() != again.replayed {
        return Some(format!("the last answer was replayed: {}", again.replayed));
    }
    let Some(ended) = record_at_the_end else { return Some("the record is gone".to_owned()) };
    match (ended.status.is_terminal(), again.is_unknown_outcome()) {
        (false, false) => return Some(format!("a definite answer, and the record is {}", ended.status)),
        (true, true) => return Some("the outcome is told as unknown and stands in the record".to_owned()),
        _ => {}
    }
    let changed = record.as_ref().is_some_and(|record| record.status.is_terminal() && record != ended);
    changed.then(|| "a record that had ended was changed".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use idempotency_core::{
        AttemptNumber, Epoch, EpochMillis, EpochSeconds, ExecutionId, Fingerprint, OwnerToken, RecordKey, Status,
    };

    use super::{
        super::case::{Blow, Callee, Path, Step},
        *,
    };

    fn answer(status: u16, replayed: bool, body: &str) -> Answer {
        Answer { status, replayed, retry_after: None, location: None, body: body.into(), took: Duration::ZERO }
    }

    fn record(status: Status, owner: u8) -> Record {
        Record {
            key: RecordKey::from_stored("k"),
            status,
            owner: OwnerToken::from_bytes([owner; 16]),
            execution: ExecutionId::from_bytes([0; 16]),
            renewed: false,
            resolved_at: None,
            epoch: Epoch::new(1),
            attempt: AttemptNumber::FIRST,
            lease_until: EpochMillis::new(1),
            expires_at: EpochSeconds::new(1),
            fingerprint: Fingerprint::from_bytes([0; 32]),
            result: None,
        }
    }

    fn charged_once() -> Observed {
        Observed {
            struck: true,
            first: answer(201, false, "c"),
            definite: Some(answer(201, false, "c")),
            again: answer(201, true, "c"),
            runs: 1,
            charges: 1,
            record: Some(record(Status::Completed, 1)),
            record_at_the_end: Some(record(Status::Completed, 1)),
        }
    }

    fn unknown() -> Observed {
        let unknown = answer(500, false, "outcome-unknown");
        Observed {
            first: answer(500, false, "crashed"),
            definite: Some(unknown.clone()),
            again: unknown,
            record: Some(record(Status::InFlight, 1)),
            record_at_the_end: Some(record(Status::InFlight, 1)),
            ..charged_once()
        }
    }

    fn judge(policy: Policy, callee: Callee, blow: Blow, seen: &Observed) -> Option<String> {
        let case = Case { policy, path: Path::Fresh, step: Step { callee, nth: 1 }, blow };
        violation(&case, &charged_once(), seen)
    }

    #[test]
    fn what_was_promised_passes() {
        assert_eq!(judge(Policy::Rerun, Callee::Store, Blow::DropAfter, &charged_once()), None);
        assert_eq!(judge(Policy::Reject, Callee::Store, Blow::KillAfter, &unknown()), None);
        let twice = Observed { runs: 2, ..charged_once() };
        assert_eq!(judge(Policy::Rerun, Callee::Provider, Blow::DropAfter, &twice), None);
        let late = Observed { first: answer(201, false, "c"), again: answer(201, true, "c"), ..unknown() };
        let late = Observed { record_at_the_end: Some(record(Status::Completed, 1)), ..late };
        assert_eq!(judge(Policy::Reject, Callee::Store, Blow::FreezeLate, &late), None);
        let dead = Observed { first: answer(500, false, "crashed"), ..late.clone() };
        assert_eq!(judge(Policy::Reject, Callee::Store, Blow::KillLate, &dead), None);
        let other = Observed { first: answer(201, false, "other"), ..late };
        assert!(judge(Policy::Reject, Callee::Store, Blow::FreezeLate, &other).is_some());
    }

    #[test]
    fn a_second_run_is_noticed() {
        let twice = Observed { runs: 2, ..charged_once() };
        assert!(judge(Policy::Rerun, Callee::Store, Blow::DropAfter, &twice).is_some());
        assert!(judge(Policy::Reject, Callee::Store, Blow::KillAfter, &twice).is_some());
        let thrice = Observed { runs: 3, ..charged_once() };
        assert!(judge(Policy::Rerun, Callee::Store, Blow::KillAfter, &thrice).is_some());
        let charged_twice = Observed { charges: 2, ..charged_once() };
        assert!(judge(Policy::Rerun, Callee::Store, Blow::KillAfter, &charged_twice).is_some());
    }

    #[test]
    fn another_answer_is_noticed() {
        let store = |seen: &Observed| judge(Policy::Rerun, Callee::Store, Blow::DropAfter, seen).is_some();
        assert!(store(&Observed { first: answer(409, false, ""), ..charged_once() }), "blocked by its own claim");
        assert!(store(&Observed { definite: None, ..charged_once() }));
        assert!(store(&Observed { struck: false, ..charged_once() }), "a case without a fault proves nothing");
        assert!(store(&Observed { again: answer(201, true, "other"), ..charged_once() }));
        assert!(store(&Observed { again: answer(201, false, "c"), ..charged_once() }), "run again");
        assert!(judge(Policy::Rerun, Callee::Store, Blow::KillAfter, &unknown()).is_some(), "rerun ends with a result");
        let nothing = Observed { charges: 0, ..charged_once() };
        assert!(judge(Policy::Rerun, Callee::Store, Blow::KillBefore, &nothing).is_some(), "201 for nothing");
    }

    #[test]
    fn a_changed_or_missing_record_is_noticed() {
        let killed = |seen: &Observed| judge(Policy::Rerun, Callee::Store, Blow::KillLate, seen).is_some();
        assert!(killed(&Observed { record_at_the_end: Some(record(Status::Completed, 2)), ..charged_once() }));
        assert!(killed(&Observed { record_at_the_end: Some(record(Status::InFlight, 1)), ..charged_once() }));
        assert!(killed(&Observed { record_at_the_end: None, ..charged_once() }));
        let hidden = Observed { record_at_the_end: Some(record(Status::Completed, 1)), ..unknown() };
        assert!(judge(Policy::Reject, Callee::Store, Blow::KillLate, &hidden).is_some());
    }
}
