//! The table read from end to end, in segments and pages.

mod position;

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use futures::{Stream, StreamExt, stream};
use idempotency_core::{EpochMillis, Status, StoreError};

pub use self::position::{PositionError, ScanPosition};
use crate::{
    DynamoDbStore,
    error::classify,
    item::{CLAIM, attribute, number, string},
    stored_item::StoredItem,
};

/// A scan of the whole table: how it is cut, and what of it is shown.
///
/// A scan reads everything and is billed for everything that it reads, whatever it shows: one read unit for 8 KB (Amazon DynamoDB
/// Developer Guide, "Scanning tables in DynamoDB": half a unit per 4 KB, read eventually consistent). Segments are read side by side;
/// each is a sequence of pages of at most 1 MB, and one page of each is in memory at a time.
///
/// What it shows may be a second old, so a decision about a record begins with [`Store::get`](idempotency_core::Store::get).
///
/// ```no_run
/// use futures::StreamExt;
/// use idempotency_core::Status;
/// use idempotency_dynamodb::{DynamoDbStore, StoredItem, TableScan};
///
/// # async fn example(store: &DynamoDbStore) -> Result<(), idempotency_core::StoreError> {
/// let scan = TableScan::new(4).statuses([Status::Stuck]);
/// let mut pages = Box::pin(scan.pages(store));
/// while let Some(page) = pages.next().await {
///     for item in page?.items {
///         if let StoredItem::Record(record) = item {
///             println!("{}", record.key);
///         }
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct TableScan {
    segments: u32,
    page_size: Option<i32>,
    within: Duration,
    key_prefix: Option<String>,
    records_only: bool,
    statuses: Vec<Status>,
    lease_before: Option<EpochMillis>,
}

/// One page of a scan.
#[derive(Clone, Debug)]
pub struct ScanPage {
    /// Which segment, from 0.
    pub segment: u32,
    /// What of the page is shown, in no order that means anything. May be empty in the middle of a scan.
    pub items: Vec<StoredItem>,
    /// How many items were read for it.
    pub scanned: usize,
    /// How many read units were billed for it; `None` where the engine does not say.
    pub read_units: Option<f64>,
    /// Where the segment goes on; `None` at its end.
    pub next: Option<ScanPosition>,
}

impl TableScan {
    /// The most segments that DynamoDB knows (API Reference, "Scan", `TotalSegments`).
    pub const MAX_SEGMENTS: u32 = 1_000_000;

    /// A scan of everything, in so many segments side by side; 0 is taken for 1.
    pub fn new(segments: u32) -> Self {
        Self {
            segments: segments.clamp(1, Self::MAX_SEGMENTS),
            page_size: None,
            within: Duration::from_secs(30),
            key_prefix: None,
            records_only: false,
            statuses: Vec::new(),
            lease_before: None,
        }
    }

    /// The same scan with pages of at most so many items, read for each: for a job that must be able to stop soon.
    #[must_use]
    pub fn page_size(self, items: u32) -> Self {
        Self { page_size: Some(i32::try_from(items.max(1)).unwrap_or(i32::MAX)), ..self }
    }

    /// The same scan, in which a page is waited for no longer than this; 30 seconds if nothing is said.
    #[must_use]
    pub fn within(self, within: Duration) -> Self {
        Self { within, ..self }
    }

    /// The same scan, which shows only what stands under partition keys that begin so, such as `prod#create-charge#v`.
    #[must_use]
    pub fn key_prefix(self, prefix: impl Into<String>) -> Self {
        Self { key_prefix: Some(prefix.into()), ..self }
    }

    /// The same scan, which shows records and not what stands beside them.
    #[must_use]
    pub fn records_only(self) -> Self {
        Self { records_only: true, ..self }
    }

    /// The same scan, which shows only records of these statuses, and those whose status this version does not know: they may be in any.
    #[must_use]
    pub fn statuses(self, statuses: impl IntoIterator<Item = Status>) -> Self {
        Self { statuses: statuses.into_iter().collect(), records_only: true, ..self }
    }

    /// The same scan, which shows only records whose lease ends before this time.
    #[must_use]
    pub fn lease_before(self, time: EpochMillis) -> Self {
        Self { lease_before: Some(time), records_only: true, ..self }
    }

    /// How many segments there are.
    pub const fn segments(&self) -> u32 {
        self.segments
    }

    /// The start of a segment, from 0.
    pub const fn start(&self, segment: u32) -> ScanPosition {
        ScanPosition::start(segment, self.segments)
    }

    /// Reads one page. Its [`next`](ScanPage::next) can be kept as text and gone on with by another process.
    ///
    /// Dropping the future reads nothing more.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when there was no answer, or the request was refused: `dynamodb:Scan` is needed on the table.
    pub async fn page(&self, store: &DynamoDbStore, from: &ScanPosition) -> Result<ScanPage, StoreError> {
        let (filter, names, values) = self.filter();
        let (segment, segments) = (from.segment(), from.segments());
        let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let scan = store
            .client()
            .scan()
            .table_name(store.table())
            .segment(signed(segment))
            .total_segments(signed(segments))
            .set_limit(self.page_size)
            .set_exclusive_start_key(from.key())
            .set_filter_expression(filter)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let page = Box::pin(store.ask("Scan", self.within, scan.send())).await?.map_err(classify)?;
        let next = page.last_evaluated_key().and_then(|key| ScanPosition::after(segment, segments, key));
        Ok(ScanPage {
            segment,
            scanned: usize::try_from(page.scanned_count()).unwrap_or(0),
            read_units: page.consumed_capacity().and_then(|consumed| consumed.capacity_units()),
            items: page.items().iter().map(StoredItem::read).collect(),
            next,
        })
    }

    /// All pages of all segments, read side by side. A segment ends at its first error; the others go on for as long as the stream is
    /// polled.
    ///
    /// Dropping the stream reads nothing more.
    pub fn pages<'a>(
        &'a self,
        store: &'a DynamoDbStore,
    ) -> impl Stream<Item = Result<ScanPage, StoreError>> + Send + 'a {
        stream::select_all((0..self.segments).map(|segment| {
            let pages = stream::unfold(Some(self.start(segment)), move |position| async move {
                let page = self.page(store, &position?).await;
                let next = page.as_ref().ok().and_then(|page| page.next.clone());
                Some((page, next))
            });
            pages.boxed()
        }))
    }

    #[expect(clippy::type_complexity, reason = "the three things that the SDK's builder takes")]
    fn filter(&self) -> (Option<String>, Option<HashMap<String, String>>, Option<HashMap<String, AttributeValue>>) {
        let (mut clauses, mut names, mut values) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut name = |placeholder: &str, attribute: &str| names.insert(placeholder.to_owned(), attribute.to_owned());
        if self.records_only {
            name("#sk", attribute::SK);
            values.insert(":claim".to_owned(), string(CLAIM));
            clauses.push("#sk = :claim".to_owned());
        }
        if let Some(prefix) = &self.key_prefix {
            name("#pk", attribute::PK);
            values.insert(":prefix".to_owned(), string(prefix));
            clauses.push("begins_with(#pk, :prefix)".to_owned());
        }
        if let Some(time) = self.lease_before {
            name("#lease", attribute::LEASE_UNTIL);
            values.insert(":before".to_owned(), number(time.get()));
            clauses.push("#lease < :before".to_owned());
        }
        if !self.statuses.is_empty() {
            name("#status", attribute::STATUS);
            let placeholders = self.statuses.iter().enumerate().map(|(index, status)| {
                values.insert(format!(":status{index}"), string(status.as_str()));
                format!(":status{index}")
            });
            let placeholders = placeholders.collect::<Vec<_>>().join(", ");
            let known = Status::ALL.iter().enumerate().map(|(index, status)| {
                values.insert(format!(":known{index}"), string(status.as_str()));
                format!(":known{index}")
            });
            let known = known.collect::<Vec<_>>().join(", ");
            clauses.push(format!("(#status IN ({placeholders}) OR NOT #status IN ({known}))"));
        }
        // Empty ones are refused.
        match clauses.is_empty() {
            true => (None, None, None),
            false => (Some(clauses.join(" AND ")), Some(names), Some(values)),
        }
    }
}
