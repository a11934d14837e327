//! Many records read by few requests.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use aws_sdk_dynamodb::{error::ProvideErrorMetadata, types::KeysAndAttributes};
use futures::{StreamExt, stream};
use idempotency_core::{Record, RecordError, RecordKey, Store, StoreError};

use crate::{
    DynamoDbStore,
    deadline::Deadline,
    error::classify,
    item::{CLAIM, Item, attribute, record_from_item, string},
    store::IN_FLIGHT,
};

/// The most keys of one `BatchGetItem` (API Reference, "BatchGetItem"). The other limit, 16 MB, is far: a record has less than 34 KB.
const KEYS: usize = 100;

/// How often a request is made for what DynamoDB has left out, and how long the first pause before it is; the next is twice as long.
const ROUNDS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(50);

/// What a batch told of one key.
pub(crate) enum Read {
    Told(Result<Option<Record>, RecordError>),
    /// Nothing. With the error code if the batch was refused for good.
    Untold(Option<String>),
}

/// Keys that were answered, with their items, and keys that were left out.
struct Page {
    items: HashMap<String, Item>,
    left_out: BTreeSet<String>,
}

impl DynamoDbStore {
    /// What stands under each key, by `BatchGetItem` where that is answered and one by one else.
    pub(crate) async fn get_together(
        &self,
        keys: &[RecordKey],
        deadline: Deadline,
    ) -> Vec<Result<Option<Record>, StoreError>> {
        let distinct: BTreeSet<&RecordKey> = keys.iter().collect();
        let alone = distinct.len() < 2 || self.batches.reads.is_missing();
        let told = if alone { BTreeMap::new() } else { self.read_batches(&distinct, deadline).await };
        let answers = keys.iter().map(|key| self.get_unless_told(key, told.get(key), deadline));
        stream::iter(answers.collect::<Vec<_>>()).buffered(IN_FLIGHT).collect().await
    }

    async fn get_unless_told(
        &self,
        key: &RecordKey,
        told: Option<&Read>,
        deadline: Deadline,
    ) -> Result<Option<Record>, StoreError> {
        if let Some(Read::Told(found)) = told {
            return Ok(found.clone()?);
        }
        let answer = self.get(key, deadline.left()).await;
        if let (Some(Read::Untold(Some(refusal))), Ok(_)) = (told, &answer) {
            self.note_reads_missing(refusal);
        }
        answer
    }

    /// Reads all keys by `BatchGetItem`s side by side.
    pub(crate) async fn read_batches(
        &self,
        keys: &BTreeSet<&RecordKey>,
        deadline: Deadline,
    ) -> BTreeMap<RecordKey, Read> {
        let keys: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
        let groups: Vec<_> = keys.chunks(KEYS).map(|group| self.read_batch(group, deadline)).collect();
        stream::iter(groups).buffer_unordered(IN_FLIGHT).flat_map(stream::iter).collect().await
    }

    async fn read_batch(&self, keys: &[&str], deadline: Deadline) -> Vec<(RecordKey, Read)> {
        let mut open: BTreeSet<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let mut told = Vec::with_capacity(open.len());
        let mut refusal = None;
        for round in 0..ROUNDS {
            if round > 0 && deadline.limit(tokio::time::sleep(PAUSE * (1 << (round - 1)))).await.is_err() {
                break;
            }
            let page = match self.read_page(&open, deadline).await {
                Ok(page) => page,
                Err(error) => {
                    refusal = error;
                    break;
                }
            };
            for key in open.difference(&page.left_out) {
                let found = page.items.get(key).map(record_from_item).transpose();
                told.push((RecordKey::from_stored(key.as_str()), Read::Told(found)));
            }
            open = page.left_out;
            if open.is_empty() {
                break;
            }
        }
        told.extend(open.into_iter().map(|key| (RecordKey::from_stored(key), Read::Untold(refusal.clone()))));
        told
    }

    /// One `BatchGetItem`. The error is its code if it was refused for good.
    async fn read_page(&self, keys: &BTreeSet<String>, deadline: Deadline) -> Result<Page, Option<String>> {
        let keys = keys
            .iter()
            .map(|key| Item::from([(attribute::PK.into(), string(key)), (attribute::SK.into(), string(CLAIM))]));
        let keys = KeysAndAttributes::builder().set_keys(Some(keys.collect())).consistent_read(true).build();
        let Ok(keys) = keys else { return Err(None) };
        let send = self.client().batch_get_item().request_items(self.table(), keys).send();
        let output = match self.watch.limit("BatchGetItem", deadline, send).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => {
                let code = error.code().unwrap_or_default().to_owned();
                return Err(matches!(classify(error), StoreError::Refused(_)).then_some(code));
            }
            Err(_late) => return Err(None),
        };
        // An answer without this member says nothing of any key.
        let items = output.responses.ok_or(None)?.into_values().flatten();
        let left_out = output.unprocessed_keys.into_iter().flatten().flat_map(|(_, keys)| keys.keys);
        Ok(Page {
            items: items.filter_map(|item| Some((partition_key(&item)?, item))).collect(),
            left_out: left_out.filter_map(|key| partition_key(&key)).collect(),
        })
    }

    pub(crate) fn note_reads_missing(&self, refusal: &str) {
        self.batches.reads.note_missing("BatchGetItem", "dynamodb:BatchGetItem", refusal);
    }
}

fn partition_key(item: &Item) -> Option<String> {
    item.get(attribute::PK)?.as_s().ok().cloned()
}
