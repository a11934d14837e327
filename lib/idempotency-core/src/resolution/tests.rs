use bytes::Bytes;

use super::*;
use crate::{AttemptNumber, EndConflict, ExecutionId, Fingerprint, RecordKey, explain_end};

const NOW: EpochMillis = EpochMillis::new(1_000_000);
const MINE: OwnerToken = OwnerToken::from_bytes([9; 16]);
const ALL: [Resolution; 3] = [Resolution::Completed, Resolution::Failed, Resolution::Rerun];

fn record(status: Status, lease_until: i64) -> Record {
    Record {
        key: RecordKey::from_stored("dev#charge#v1#abc"),
        status,
        owner: OwnerToken::from_bytes([1; 16]),
        execution: ExecutionId::from_bytes([2; 16]),
        epoch: Epoch::new(5_000_000),
        attempt: AttemptNumber::new(2),
        lease_until: EpochMillis::new(lease_until),
        expires_at: EpochSeconds::new(10_000),
        fingerprint: Fingerprint::from_bytes([4; 32]),
        result: None,
        renewed: false,
        resolved_at: None,
    }
}

fn over(status: Status) -> Record {
    record(status, 999_999)
}

#[test]
fn nothing_is_said_about_a_key_whose_attempt_may_be_running() {
    for status in [Status::InFlight, Status::Compensating] {
        let running = record(status, 1_000_001);
        let refused = Err(Unresolvable::LeaseRuns { left: Duration::from_millis(1) });
        assert_eq!(removable(&running, NOW), refused);
        for resolution in ALL {
            assert_eq!(resolution.check(&running, NOW), refused, "{status} {resolution:?}");
        }
        // At its end it is over, as for everybody else.
        assert_eq!(removable(&record(status, 1_000_000), NOW), Ok(()));
    }
}

#[test]
fn an_ended_or_expired_record_is_not_changed() {
    for resolution in ALL {
        for status in [Status::Completed, Status::Failed] {
            assert_eq!(resolution.check(&over(status), NOW), Err(Unresolvable::Ended));
        }
        let expired = Record { expires_at: EpochSeconds::new(1_000), ..over(Status::InFlight) };
        assert_eq!(resolution.check(&expired, NOW), Err(Unresolvable::Expired));
    }
}

#[test]
fn what_goes_on_by_itself_needs_no_rerun_and_may_be_ended() {
    for status in [Status::Released, Status::Compensating] {
        assert_eq!(Resolution::Rerun.check(&over(status), NOW), Err(Unresolvable::GoesOn));
        assert_eq!(Resolution::Failed.check(&over(status), NOW), Ok(()));
        assert_eq!(Resolution::Completed.check(&over(status), NOW), Ok(()));
    }
    for status in [Status::InFlight, Status::Stuck] {
        assert!(ALL.iter().all(|resolution| resolution.check(&over(status), NOW).is_ok()));
    }
}

#[test]
fn a_lost_attempt_that_comes_back_finds_another_version_and_is_told_so() {
    let lost = over(Status::InFlight);
    let ended = Record { status: Status::Completed, ..lost.clone() };
    let result = || Some(StoredResult::Inline(Bytes::from_static(b"\0done")));
    let completed = Resolution::Completed.apply(&lost, result(), MINE, NOW);
    assert_eq!((completed.status, completed.result.clone()), (Status::Completed, result()));
    assert_eq!(explain_end(&ended, Some(&completed)), EndConflict::SupersededByResult);
    let rerun = Resolution::Rerun.apply(&lost, None, MINE, NOW);
    assert_eq!(rerun.status, Status::Released);
    // What the next attempt finds of another system's lost one is older than this word.
    assert_eq!((completed.resolved_at, rerun.resolved_at), (None, Some(NOW)));
    assert_eq!(explain_end(&ended, Some(&rerun)), EndConflict::Superseded);
    for record in [completed, rerun] {
        assert!(record.epoch > lost.epoch, "epochs grow, whatever the clock says");
        assert_eq!(
            (record.execution, record.attempt, record.fingerprint),
            (lost.execution, lost.attempt, lost.fingerprint)
        );
    }
}

#[test]
fn a_stuck_record_goes_on_undoing_with_its_failure_where_that_stands() {
    let failure = Some(StoredResult::Inline(Bytes::from_static(b"\0declined")));
    let stuck = Record { result: failure.clone(), ..record(Status::Stuck, 2_000_000) };
    let again = Resolution::Rerun.apply(&stuck, None, MINE, NOW);
    assert_eq!((again.status, again.owner, &again.result), (Status::Compensating, stuck.owner, &failure));
    // The next request goes on at once, and a late write of the one that got stuck meets another version.
    assert_eq!(again.lease_until, NOW);
    assert!(again.epoch > stuck.epoch);
    let failed = Resolution::Failed.apply(&stuck, None, MINE, NOW);
    assert_eq!((failed.status, &failed.result), (Status::Failed, &failure));
}

#[test]
fn what_was_said_is_kept_for_a_day_at_least_and_a_rerun_changes_no_lifetime() {
    let soon = Record { expires_at: EpochSeconds::new(1_001), ..over(Status::InFlight) };
    assert_eq!(Resolution::Completed.apply(&soon, None, MINE, NOW).expires_at, EpochSeconds::new(1_000 + 86_400));
    assert_eq!(Resolution::Rerun.apply(&soon, None, MINE, NOW).expires_at, soon.expires_at);
    let long = Record { expires_at: EpochSeconds::new(9_000_000), ..soon };
    assert_eq!(Resolution::Failed.apply(&long, None, MINE, NOW).expires_at, long.expires_at);
}
