//! Mutated events of every trigger of records.

use fuzz_checks::records::{Counts, RecordTrigger, check_seed, check_text};

/// Per trigger; `cargo run --release -p fuzz-checks` checks 100,000.
const EVENTS: u64 = 1_000;

fn holds_for(trigger: &str) -> Counts {
    let trigger = RecordTrigger::named(trigger).unwrap();
    let mut counts = Counts::default();
    (0..EVENTS).for_each(|seed| check_seed(trigger, seed, &mut counts));
    let Counts { not_decoded, undecodable, fresh, retryable, failed, abandoned, unknown, .. } = counts;
    // Each fate is met often, so nothing above holds only because nothing happens.
    for met in [fresh, retryable, failed, abandoned] {
        assert!(met >= EVENTS / 50, "{counts:#?}");
    }
    assert!(not_decoded + undecodable > 0 && not_decoded < EVENTS * 2 / 3, "{counts:#?}");
    assert!(unknown < EVENTS / 5, "{counts:#?}");
    counts
}

/// Also for a trigger of several records.
fn holds_for_batches_of(trigger: &str) -> Counts {
    let counts = holds_for(trigger);
    let Counts { keyless, replays, mismatches, conflicts, .. } = counts;
    for met in [keyless, replays, mismatches, conflicts] {
        assert!(met > 0, "{counts:#?}");
    }
    counts
}

#[test]
fn mutated_messages_are_reported_unless_they_are_done() {
    assert!(holds_for_batches_of("sqs").no_identifier > 0);
}

#[test]
fn mutated_fifo_messages_are_reported_unless_they_are_done_and_stop_their_group() {
    let counts = holds_for("sqs-fifo");
    assert!(counts.not_reached > 0 && counts.no_identifier > 0 && counts.replays > 0, "{counts:#?}");
}

#[test]
fn mutated_kinesis_records_are_delivered_again_from_the_first_that_is_not_done() {
    assert!(holds_for("kinesis").not_reached > 0);
}

#[test]
fn mutated_changes_of_a_table_are_delivered_again_from_the_first_that_is_not_done() {
    assert!(holds_for("dynamodb").not_reached > 0);
}

#[test]
fn mutated_kafka_records_fail_their_event_unless_all_are_done() {
    assert!(holds_for("kafka").not_reached > 0);
}

#[test]
fn mutated_kafka_records_are_delivered_again_from_the_first_of_their_partition_that_is_not_done() {
    assert!(holds_for("kafka-reporting").not_reached > 0);
}

#[test]
fn mutated_notifications_of_a_topic_fail_their_event_unless_all_are_done() {
    holds_for_batches_of("sns");
}

#[test]
fn mutated_notifications_of_a_bucket_fail_their_event_unless_all_are_done() {
    holds_for("s3");
}

#[test]
fn mutated_events_of_one_record_fail_unless_it_is_done() {
    for trigger in ["eventbridge", "scheduler", "invocation"] {
        holds_for(trigger);
    }
}

#[test]
fn every_trigger_of_records_is_covered_above() {
    let names: Vec<_> = RecordTrigger::all().iter().map(|trigger| trigger.name).collect();
    let covered = ["sqs", "sqs-fifo", "kinesis", "dynamodb", "kafka", "kafka-reporting", "eventbridge", "sns", "s3"];
    assert_eq!(names, [&covered[..], &["scheduler", "invocation"]].concat());
}

#[test]
fn texts_that_are_no_events_are_refused_or_run_nothing() {
    for trigger in RecordTrigger::all() {
        for text in
            ["", "{", "{}", "[]", "null", "0", "\"\"", "{\"Records\":null}", "{\"records\":{}}", &"[".repeat(100_000)]
        {
            let mut counts = Counts::default();
            check_text(trigger, text, &mut counts);
            // An invocation may have any payload, and has a key of its own; `{}` says nothing and is done.
            assert!(counts.fresh == 0 || trigger.name == "invocation", "{}: {text}", trigger.name);
        }
    }
}
