//! Order per record: the next entry of a record is sent when the one before it was taken.

use std::collections::{HashMap, VecDeque};

use idempotency_core::OutboxEntry;
use lambda_runtime::tracing;

use crate::{
    send_error::SendError,
    staged::{Staged, Unreadable},
};

/// What became of a batch.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What was sent.
    pub(crate) sent: Vec<OutboxEntry>,
    /// The place of the first record that must come again.
    pub(crate) first_failed: Option<usize>,
}

impl Outcome {
    fn failed(&mut self, place: usize) {
        self.first_failed = Some(self.first_failed.map_or(place, |first| first.min(place)));
    }
}

/// Sends entries in rounds: one entry of each record in each round, so that none of a record is on its way together with another of it.
///
/// An entry that cannot be sent stops its record: what follows it waits until it comes again. Other records go on, for were they to
/// wait too, one bad entry would keep all of the shard from being sent until the mapping gives up, and they would be given up with it.
/// No round begins when it is late.
pub(crate) async fn send_in_order(
    staged: Vec<Staged>,
    is_late: impl Fn() -> bool,
    send: impl AsyncFn(&[&OutboxEntry]) -> Vec<Result<(), SendError>>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut lines = lines(staged);
    let mut is_first = true;
    loop {
        lines.retain(|line| !line.is_empty());
        if lines.is_empty() {
            return outcome;
        }
        if !is_first && is_late() {
            tracing::warn!(lines = lines.len(), "the time is over before everything was sent; the rest comes again");
            lines.iter().flatten().for_each(|left| outcome.failed(left.place));
            return outcome;
        }
        is_first = false;
        round(&mut lines, &mut outcome, &send).await;
    }
}

/// Sends the first entry of each line. A line whose entry was not sent ends.
async fn round(
    lines: &mut [VecDeque<Staged>],
    outcome: &mut Outcome,
    send: &impl AsyncFn(&[&OutboxEntry]) -> Vec<Result<(), SendError>>,
) {
    let heads: Vec<_> = lines.iter_mut().filter_map(|line| line.pop_front().map(|head| (head, line))).collect();
    let (mut readable, mut entries) = (Vec::new(), Vec::new());
    for (head, line) in heads {
        match head.entry {
            Ok(entry) => {
                readable.push((head.place, head.is_ahead, line));
                entries.push(entry);
            }
            Err(Unreadable::Entry(error)) if head.is_ahead => passed_over(&head.pk, &head.sk, &error),
            Err(error) => {
                let Staged { pk, sk, place, .. } = head;
                tracing::error!(pk, sk, %error, "an entry of the outbox cannot be read, and was not sent");
                outcome.failed(place);
                // Those behind it may stand before it in the batch.
                line.drain(..).for_each(|left| outcome.failed(left.place));
            }
        }
    }
    // One without a result must come again.
    let results = send(&entries.iter().collect::<Vec<_>>()).await;
    let results = results.into_iter().chain(std::iter::repeat_with(|| Err(SendError::of_entry(None, None))));
    for (((place, is_ahead, line), entry), result) in readable.into_iter().zip(entries).zip(results) {
        match result {
            Ok(()) => outcome.sent.push(entry),
            Err(error) if is_ahead && error.is_for_good() => {
                passed_over(entry.record_key.as_str(), &entry.sort_key(), &error);
            }
            Err(error) => {
                let (pk, sk, event_id) = (&entry.record_key, entry.sort_key(), &entry.id);
                tracing::error!(%pk, sk, %event_id, %error, "an entry of the outbox was not sent");
                outcome.failed(place);
                line.drain(..).for_each(|left| outcome.failed(left.place));
            }
        }
    }
}

fn passed_over(pk: &str, sk: &str, error: &(dyn std::error::Error + 'static)) {
    tracing::warn!(
        pk,
        sk,
        error,
        "an entry of the outbox cannot be sent before what was staged behind it; its own record is reported"
    );
}

/// The entries of each record, in the order in which they were staged: executions as they come in the batch, and those of one
/// execution by their places in it, which their sort keys end with.
fn lines(mut staged: Vec<Staged>) -> Vec<VecDeque<Staged>> {
    let mut executions = HashMap::new();
    for staged in &staged {
        let came = executions.len();
        executions.entry((staged.pk.clone(), staged.execution().to_owned())).or_insert(came);
    }
    let came = |staged: &Staged| executions.get(&(staged.pk.clone(), staged.execution().to_owned())).copied();
    staged.sort_by_cached_key(|staged| (came(staged), staged.sk.clone()));
    let (mut lines, mut known) = (Vec::<VecDeque<_>>::new(), HashMap::new());
    for staged in staged {
        let place = *known.entry(staged.pk.clone()).or_insert(lines.len());
        match lines.get_mut(place) {
            Some(line) => line.push_back(staged),
            None => lines.push(VecDeque::from([staged])),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
