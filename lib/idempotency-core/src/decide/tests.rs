//! Every row of the protocol as a table: what is stored, when it is asked, what is decided.

use super::*;
use crate::EpochSeconds;

const CLAIMED_AT: EpochMillis = EpochMillis::new(1_700_000_000_000);
const RUN: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(13);
const MILLI: Duration = Duration::from_millis(1);

fn policy(on_abandoned: OnAbandoned) -> Policy {
    Policy::new(Window::http()).on_abandoned(on_abandoned)
}

fn request(token: u8) -> ClaimRequest {
    ClaimRequest {
        key: RecordKey::from_stored("dev#charge#v1#abc"),
        fingerprint: Fingerprint::from_bytes([7; 32]),
        token: OwnerToken::from_bytes([token; 16]),
        execution: ExecutionId::from_bytes([token; 16]),
        deadline: CLAIMED_AT + RUN,
    }
}

fn claimed() -> Record {
    match decide(None, &request(1), CLAIMED_AT, &policy(OnAbandoned::Rerun)) {
        Decision::Insert(record) => record,
        other => panic!("{other:?}"),
    }
}

fn with_status(status: Status) -> Record {
    Record { status, ..claimed() }
}

/// The name of a decision, for tables.
fn name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Insert(_) => "insert",
        Decision::TakeOver { .. } => "take over",
        Decision::Resume { .. } => "resume",
        Decision::Expired { .. } => "expired",
        Decision::Own => "own",
        Decision::Replay => "replay",
        Decision::Conflict { .. } => "conflict",
        Decision::Mismatch => "mismatch",
        Decision::Uncertain => "uncertain",
        Decision::Probe { .. } => "probe",
        Decision::Compensate { .. } => "compensate",
        Decision::Stuck => "stuck",
    }
}

#[test]
fn every_row_of_the_protocol() {
    use OnAbandoned::{Probe, Reject, Rerun};
    use Status::{Compensating, Completed, Failed, InFlight, Released, Stuck};

    let stored = |status| Some(with_status(status));
    let other_request = |status| Some(Record { fingerprint: Fingerprint::from_bytes([8; 32]), ..with_status(status) });
    let end = claimed().expires_at.to_millis();
    let running = CLAIMED_AT + LEASE - MILLI;
    let over = CLAIMED_AT + LEASE;

    let rows = [
        // What is stored, whose token asks, when, policy: what is decided.
        (None, 2, CLAIMED_AT, Rerun, "insert"),
        (None, 2, CLAIMED_AT, Reject, "insert"),
        // My own record: the reply was lost, whatever the time.
        (stored(InFlight), 1, CLAIMED_AT, Rerun, "own"),
        (stored(InFlight), 1, over, Reject, "own"),
        // Another request under the same key, at every stage.
        (other_request(InFlight), 2, running, Rerun, "mismatch"),
        (other_request(InFlight), 2, over, Rerun, "mismatch"),
        (other_request(InFlight), 2, over, Reject, "mismatch"),
        (other_request(Released), 2, running, Rerun, "mismatch"),
        (other_request(Completed), 2, running, Rerun, "mismatch"),
        (other_request(Failed), 2, running, Rerun, "mismatch"),
        // Ended.
        (stored(Completed), 2, running, Rerun, "replay"),
        (stored(Completed), 2, over, Reject, "replay"),
        (stored(Failed), 2, over, Rerun, "replay"),
        (stored(Completed), 2, end - MILLI, Rerun, "replay"),
        // In flight.
        (stored(InFlight), 2, running, Rerun, "conflict"),
        (stored(InFlight), 2, running, Reject, "conflict"),
        (stored(InFlight), 2, over, Rerun, "take over"),
        (stored(InFlight), 2, over, Reject, "uncertain"),
        (stored(InFlight), 2, running, Probe, "conflict"),
        (stored(InFlight), 2, over, Probe, "probe"),
        (stored(InFlight), 1, over, Probe, "own"),
        (stored(Released), 2, over, Probe, "resume"),
        (other_request(InFlight), 2, over, Probe, "mismatch"),
        // The last attempt said that nothing happened.
        (stored(Released), 2, CLAIMED_AT, Rerun, "resume"),
        (stored(Released), 2, CLAIMED_AT, Reject, "resume"),
        // Being undone: its lease counts, and then the next goes on whatever the policy.
        (stored(Compensating), 2, running, Rerun, "conflict"),
        (stored(Compensating), 2, over, Rerun, "compensate"),
        (stored(Compensating), 2, over, Reject, "compensate"),
        (stored(Compensating), 2, over, Probe, "compensate"),
        (stored(Compensating), 1, over, Rerun, "own"),
        (other_request(Compensating), 2, over, Rerun, "mismatch"),
        (stored(Compensating), 2, end, Rerun, "expired"),
        // An operator must act, whoever asks.
        (stored(Stuck), 1, running, Rerun, "stuck"),
        (stored(Stuck), 2, over, Reject, "stuck"),
        (stored(Stuck), 2, end - MILLI, Probe, "stuck"),
        (other_request(Stuck), 2, over, Rerun, "mismatch"),
        (stored(Stuck), 2, end, Rerun, "expired"),
        // Expired: a new key, whatever was stored and whoever asked.
        (stored(Completed), 2, end, Rerun, "expired"),
        (stored(Failed), 2, end, Reject, "expired"),
        (stored(InFlight), 2, end, Reject, "expired"),
        (stored(Released), 2, end, Rerun, "expired"),
        (other_request(Completed), 2, end, Rerun, "expired"),
    ];
    for (existing, token, now, on_abandoned, expected) in rows {
        let decision = decide(existing.as_ref(), &request(token), now, &policy(on_abandoned));
        assert_eq!(name(&decision), expected, "{existing:?} asked by {token} at {now} under {on_abandoned:?}");
    }
}

#[test]
fn a_claim_writes_a_lease_beyond_the_deadline_and_an_expiry_beyond_the_lease() {
    let record = claimed();
    assert_eq!(record.status, Status::InFlight);
    assert_eq!(record.owner, OwnerToken::from_bytes([1; 16]));
    assert_eq!(record.lease_until, CLAIMED_AT + LEASE);
    assert_eq!(record.expires_at, EpochSeconds::new(1_700_000_000 + 48 * 3600));
    assert_eq!(record.attempt, AttemptNumber::FIRST);
    assert_eq!(record.epoch.get(), CLAIMED_AT.get());
    assert_eq!(record.result, None);
}

#[test]
fn a_record_expires_whatever_deadline_the_platform_claims() {
    let latest = CLAIMED_AT + Window::MAX_STORAGE_TTL + Policy::MARGIN * 2;
    let year = CLAIMED_AT + Window::MAX_STORAGE_TTL;
    for deadline in [year, year + MILLI, EpochMillis::new(i64::MAX)] {
        let request = ClaimRequest { deadline, ..request(1) };
        let Decision::Insert(record) = decide(None, &request, CLAIMED_AT, &policy(OnAbandoned::Rerun)) else {
            panic!()
        };
        assert_eq!(record.lease_until, year + Policy::MARGIN, "{deadline}");
        assert_eq!(record.expires_at, latest.ceil_seconds(), "{deadline}");
    }
}

#[test]
fn without_remaining_time_the_lease_covers_the_longest_run() {
    for deadline in [CLAIMED_AT, CLAIMED_AT - RUN, EpochMillis::new(600_000), EpochMillis::new(i64::MIN)] {
        let request = ClaimRequest { deadline, ..request(1) };
        let Decision::Insert(record) = decide(None, &request, CLAIMED_AT, &policy(OnAbandoned::Rerun)) else {
            panic!()
        };
        assert_eq!(record.lease_until, CLAIMED_AT + Window::http().longest_run() + Policy::MARGIN);
    }
}

#[test]
fn an_expiry_is_never_before_the_end_of_the_lease() {
    let second = Duration::from_secs(1);
    let window = Window::custom(second, 2 * second, second).unwrap();
    let Decision::Insert(record) = decide(None, &request(1), CLAIMED_AT, &Policy::new(window)) else { panic!() };
    assert!(record.expires_at.to_millis() >= record.lease_until + Policy::MARGIN);
}

#[test]
fn a_running_lease_counts_even_when_the_expiry_has_passed() {
    let record = Record { expires_at: EpochSeconds::new(0), ..claimed() };
    let decision = decide(Some(&record), &request(2), CLAIMED_AT, &policy(OnAbandoned::Rerun));
    assert_eq!(name(&decision), "conflict");
}

#[test]
fn takeover_and_resume_keep_the_generation_and_expiry_starts_a_new_one() {
    let end = claimed().expires_at.to_millis();
    let at = CLAIMED_AT + LEASE;
    let rerun = policy(OnAbandoned::Rerun);

    let Decision::TakeOver { from, record } = decide(Some(&claimed()), &request(2), at, &rerun) else { panic!() };
    assert_eq!(from, claimed().version());
    assert_eq!((record.execution, record.attempt.get()), (claimed().execution, 2));
    assert_eq!(record.owner, OwnerToken::from_bytes([2; 16]));
    assert_eq!(record.expires_at, (at + Window::http().storage_ttl()).ceil_seconds());

    let released = with_status(Status::Released);
    let Decision::Resume { from, record } = decide(Some(&released), &request(2), at, &rerun) else { panic!() };
    assert_eq!(from, released.version());
    assert_eq!((record.execution, record.attempt.get()), (claimed().execution, 2));

    let Decision::Expired { record, .. } = decide(Some(&claimed()), &request(2), end, &rerun) else { panic!() };
    assert_eq!((record.execution, record.attempt.get()), (ExecutionId::from_bytes([2; 16]), 1));
    assert_eq!((claimed().renewed, record.renewed), (false, true));
    // An operator's word is about its generation.
    let resolved = Record { resolved_at: Some(at), ..with_status(Status::Released) };
    let Decision::Resume { record: later, .. } = decide(Some(&resolved), &request(2), at, &rerun) else { panic!() };
    assert_eq!(later.resolved_at, Some(at));
    let Decision::Expired { record: new, .. } = decide(Some(&resolved), &request(2), end, &rerun) else { panic!() };
    assert_eq!(new.resolved_at, None);
    // Its later attempts are of the same generation.
    let over = record.lease_until;
    let Decision::TakeOver { record: later, .. } = decide(Some(&record), &request(3), over, &rerun) else { panic!() };
    assert_eq!((later.execution, later.renewed), (record.execution, true));
}

#[test]
fn the_epoch_grows_even_when_the_clock_goes_back() {
    let rerun = policy(OnAbandoned::Rerun);
    let released = with_status(Status::Released);
    for now in [CLAIMED_AT - RUN, CLAIMED_AT, CLAIMED_AT + RUN] {
        let Decision::Resume { record, .. } = decide(Some(&released), &request(2), now, &rerun) else { panic!() };
        assert!(record.epoch > released.epoch, "at {now}");
    }
}

#[test]
fn retry_after_is_the_rest_of_the_lease_within_bounds() {
    let at = |now| match decide(Some(&claimed()), &request(2), now, &policy(OnAbandoned::Rerun)) {
        Decision::Conflict { retry_after, .. } => retry_after,
        other => panic!("{other:?}"),
    };
    assert_eq!(at(CLAIMED_AT), Policy::MAX_RETRY_AFTER);
    assert_eq!(at(CLAIMED_AT + LEASE - Duration::from_millis(2500)), Duration::from_millis(2500));
    assert_eq!(at(CLAIMED_AT + LEASE - MILLI), Duration::from_secs(1));
}
