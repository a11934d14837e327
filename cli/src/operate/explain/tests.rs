use idempotency_core::{AttemptNumber, Epoch, EpochSeconds, Fingerprint, RecordKey};

use super::*;

const NOW: EpochMillis = EpochMillis::new(1_000_000);

fn record(status: Status, lease_until: i64) -> Record {
    Record {
        key: RecordKey::from_stored("prod#create-charge#v2#abc"),
        status,
        owner: OwnerToken::from_bytes([1; 16]),
        execution: ExecutionId::from_bytes([2; 16]),
        epoch: Epoch::new(7),
        attempt: AttemptNumber::FIRST,
        lease_until: EpochMillis::new(lease_until),
        expires_at: EpochSeconds::new(10_000),
        fingerprint: Fingerprint::from_bytes([3; 32]),
        result: None,
        renewed: false,
        resolved_at: None,
    }
}

#[test]
fn every_state_has_a_name_of_its_own_and_a_meaning() {
    let names: std::collections::BTreeSet<_> = State::ALL.iter().map(|state| state.name()).collect();
    assert_eq!(names.len(), State::ALL.len());
    assert!(State::ALL.iter().all(|state| state.meaning().ends_with(['.', ')'])));
}

#[test]
fn the_end_of_a_lease_makes_an_attempt_lost() {
    let rows = [
        (Status::InFlight, 1_000_001, State::InFlight),
        (Status::InFlight, 1_000_000, State::Uncertain),
        (Status::Compensating, 1_000_001, State::Compensating),
        (Status::Compensating, 1_000_000, State::CompensatingOverdue),
        (Status::Released, 1_000_001, State::Released),
        (Status::Stuck, 1_000_001, State::Stuck),
        (Status::Completed, 1, State::Completed),
        (Status::Failed, 1, State::Failed),
    ];
    for (status, lease, state) in rows {
        assert_eq!(State::of(&record(status, lease), NOW), state);
    }
    let expired = Record { expires_at: EpochSeconds::new(1_000), ..record(Status::Stuck, 1) };
    assert_eq!(State::of(&expired, NOW), State::Expired);
    // A running lease always counts.
    let running = Record { expires_at: EpochSeconds::new(1), ..record(Status::InFlight, 1_000_001) };
    assert_eq!(State::of(&running, NOW), State::InFlight);
}

#[test]
fn what_a_duplicate_gets_is_what_is_decided() {
    let gets = |record: &Record| {
        duplicate_gets(record, NOW).map(|(_, answer)| answer.split([' ', ':']).next().unwrap().to_owned())
    };
    assert_eq!(gets(&record(Status::InFlight, 1)), ["takes", "outcome-unknown", "asks"]);
    assert_eq!(gets(&record(Status::InFlight, 2_000_000)), ["conflict", "conflict", "conflict"]);
    assert_eq!(gets(&record(Status::Stuck, 1)), ["compensation-stuck"; 3]);
    assert_eq!(gets(&record(Status::Completed, 1)), ["the"; 3]);
    assert_eq!(gets(&record(Status::Compensating, 1)), ["goes"; 3]);
}

#[test]
fn facts_name_the_operation_and_never_show_a_result() {
    let result = StoredResult::Inline(bytes::Bytes::from_static(b"\0secret"));
    let facts = facts(&Record { result: Some(result), ..record(Status::Completed, 1) }, NOW);
    assert_eq!(facts["operation"], "create-charge#v2");
    assert_eq!(facts["result"]["stored_bytes"], 7);
    assert!(!facts.to_string().contains("secret"));
}
