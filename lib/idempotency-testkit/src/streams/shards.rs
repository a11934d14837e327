//! The shards of a stream, and how far each was read.

use std::collections::BTreeSet;

use super::StreamError;
use super::api::{Page, Shard, StreamsApi};

/// The shards that are known. A shard's records come before those of its children.
#[derive(Debug, Default)]
pub(super) struct Shards(Vec<Reading>);

/// How far a shard was read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) shard: Shard,
    iterator: Option<String>,
    /// The sequence number of the last record that was read.
    last: Option<String>,
    is_at_its_end: bool,
}

impl Shards {
    /// Learns of shards that are new.
    pub(super) fn learn(&mut self, listed: Vec<Shard>) {
        for shard in listed {
            if !self.0.iter().any(|reading| reading.shard.id == shard.id) {
                self.0.push(Reading { shard, iterator: None, last: None, is_at_its_end: false });
            }
        }
    }

    /// The shards that may be read now: not those whose parent is not at its end.
    pub(super) fn readable(&mut self) -> impl Iterator<Item = &mut Reading> {
        let open: BTreeSet<_> =
            self.0.iter().filter(|reading| !reading.is_at_its_end).map(|reading| reading.shard.id.clone()).collect();
        self.0.iter_mut().filter(move |reading| {
            !reading.is_at_its_end && reading.shard.parent.as_ref().is_none_or(|parent| !open.contains(parent))
        })
    }
}

impl Reading {
    /// Reads the next records. After an error the next read begins anew behind the last record, for iterators expire.
    pub(super) async fn next(&mut self, api: &StreamsApi, stream_arn: &str) -> Result<Page, StreamError> {
        let iterator = match self.iterator.take() {
            Some(iterator) => iterator,
            None => api.iterator(stream_arn, &self.shard.id, self.last.as_deref()).await?,
        };
        let page = api.records(&iterator).await?;
        let number = page.records.last().and_then(|record| record.pointer("/dynamodb/SequenceNumber")?.as_str());
        self.last = number.map(str::to_owned).or(self.last.take());
        self.is_at_its_end = page.next.is_none();
        self.iterator.clone_from(&page.next);
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_read_when_its_parent_is_at_its_end() {
        let shard = |id: &str, parent: Option<&str>| Shard { id: id.to_owned(), parent: parent.map(str::to_owned) };
        let mut shards = Shards::default();
        shards.learn(vec![shard("a", Some("trimmed")), shard("b", Some("a"))]);
        let ids = |shards: &mut Shards| shards.readable().map(|reading| reading.shard.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&mut shards), ["a"]);
        shards.0[0].is_at_its_end = true;
        shards.learn(vec![shard("a", None), shard("b", Some("a")), shard("c", None)]);
        assert_eq!(ids(&mut shards), ["b", "c"]);
    }
}
