use std::cell::{Cell, RefCell};

use idempotency_core::{EpochMillis, EpochSeconds, Event, ExecutionId, RecordError, RecordKey};

use super::*;

/// Entries of these records, one letter each; an upper-case letter is one that cannot be read.
fn batch(records: &str) -> Vec<Staged> {
    let entry = |place: usize, record: char| {
        let pk = record.to_ascii_lowercase().to_string();
        let event = Event::queue("q", &place).unwrap();
        let (execution, ordinal) = (ExecutionId::from_bytes([0; 16]), u32::try_from(place).unwrap());
        let (created_at, expires_at) = (EpochMillis::new(0), EpochSeconds::new(0));
        let entry =
            OutboxEntry::new(&RecordKey::from_stored(pk.clone()), execution, ordinal, event, created_at, expires_at);
        let unreadable = || Unreadable::Entry(RecordError::UnknownSchema { found: 2 });
        let sk = entry.sort_key();
        Staged {
            place,
            pk,
            sk,
            is_ahead: false,
            entry: if record.is_lowercase() { Ok(entry) } else { Err(unreadable()) },
        }
    };
    records.chars().enumerate().map(|(place, record)| entry(place, record)).collect()
}

fn places<'a>(entries: impl IntoIterator<Item = &'a OutboxEntry>) -> Vec<u32> {
    entries.into_iter().map(|entry| entry.ordinal).collect()
}

/// Sends a batch whose entries at these places fail, with time for so many rounds. Says what was sent in which round, and what became
/// of the batch.
async fn send(records: &str, failing: &[u32], rounds: usize) -> (Vec<Vec<u32>>, Vec<u32>, Option<usize>) {
    let (seen, left) = (RefCell::new(Vec::new()), Cell::new(rounds));
    let outcome = send_in_order(
        batch(records),
        || left.get() == 0,
        async |entries| {
            left.set(left.get().saturating_sub(1));
            seen.borrow_mut().push(places(entries.iter().copied()));
            let fails = |entry: &&OutboxEntry| failing.contains(&entry.ordinal);
            entries.iter().map(|entry| if fails(entry) { Err(SendError::NoBus) } else { Ok(()) }).collect()
        },
    )
    .await;
    (seen.into_inner(), places(&outcome.sent), outcome.first_failed)
}

#[tokio::test]
async fn entries_of_a_record_go_one_after_the_other_and_records_side_by_side() {
    let (rounds, sent, failed) = send("aabacb", &[], 99).await;
    assert_eq!(rounds, [vec![0, 2, 4], vec![1, 5], vec![3]]);
    assert_eq!((sent.len(), failed), (6, None));
    assert_eq!(send("", &[], 99).await, (vec![], vec![], None));
}

#[tokio::test]
async fn an_entry_that_fails_stops_its_record_and_no_other() {
    let (rounds, sent, failed) = send("abaab", &[2], 99).await;
    assert_eq!(rounds, [vec![0, 1], vec![2, 4]]);
    assert_eq!((sent, failed), (vec![0, 1, 4], Some(2)));
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_stops_its_record_and_is_never_passed_over() {
    let (rounds, sent, failed) = send("bAab", &[], 99).await;
    assert_eq!(rounds, [vec![0], vec![3]]);
    assert_eq!((sent, failed), (vec![0, 3], Some(1)));
}

#[tokio::test]
async fn the_first_failure_of_the_shard_is_told() {
    assert_eq!(send("abcd", &[3, 1, 2], 99).await.2, Some(1));
    assert_eq!(send("abab", &[1, 2], 99).await.2, Some(1));
}

#[tokio::test]
async fn what_there_is_no_time_for_comes_again() {
    let (rounds, sent, failed) = send("abaab", &[], 1).await;
    assert_eq!((rounds, sent, failed), (vec![vec![0, 1]], vec![0, 1], Some(2)));
    // The first round is always tried: some hosts have no deadline.
    assert_eq!(send("a", &[], 0).await, (vec![vec![0]], vec![0], None));
}

#[tokio::test]
async fn entries_of_one_transaction_go_in_the_order_in_which_they_were_staged_however_they_come() {
    let shuffled = |order: [usize; 3]| {
        let mut batch: Vec<_> = batch("aaa").into_iter().map(Some).collect();
        let staged = order.into_iter().enumerate().map(|(place, of)| Staged { place, ..batch[of].take().unwrap() });
        staged.collect::<Vec<_>>()
    };
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]] {
        let all_taken = async |entries: &[&OutboxEntry]| entries.iter().map(|_| Ok(())).collect::<Vec<_>>();
        let outcome = send_in_order(shuffled(order), || false, all_taken).await;
        assert_eq!((places(&outcome.sent), outcome.first_failed), (vec![0, 1, 2], None), "{order:?}");
        // Where the first one is not taken, all of them come again, wherever they stand.
        let none_taken =
            async |entries: &[&OutboxEntry]| entries.iter().map(|_| Err(SendError::NoBus)).collect::<Vec<_>>();
        let outcome = send_in_order(shuffled(order), || false, none_taken).await;
        assert_eq!((places(&outcome.sent), outcome.first_failed), (vec![], Some(0)), "{order:?}");
    }
}

#[tokio::test]
async fn what_was_read_ahead_and_can_never_be_sent_is_passed_over_and_what_fails_for_now_is_not() {
    for (error, expected) in
        [(SendError::NoBus, (vec![1], None)), (SendError::Failed("down".into()), (vec![], Some(1)))]
    {
        let mut batch = batch("aa");
        (batch[0].place, batch[0].is_ahead) = (1, true);
        let first_fails = async |entries: &[&OutboxEntry]| {
            let result = |entry: &&OutboxEntry| if entry.ordinal == 0 { Err(error.clone()) } else { Ok(()) };
            entries.iter().map(result).collect::<Vec<_>>()
        };
        let outcome = send_in_order(batch, || false, first_fails).await;
        assert_eq!((places(&outcome.sent), outcome.first_failed), expected);
    }
}
