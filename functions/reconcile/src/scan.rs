//! Reading tables, a page of each segment at a time.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use aws_sdk_dynamodb::{error::ProvideErrorMetadata, types::ReturnConsumedCapacity};
use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use idempotency_core::StoreError;
use idempotency_dynamodb::{ScanPosition, StoredItem, TableScan};

use crate::{
    effect_table::EffectTable,
    item_key::{Item, ItemKey},
    pace::Pace,
    run::App,
    state::{Segment, State},
};

/// A page of a table.
pub(crate) struct Page {
    pub(crate) table: usize,
    pub(crate) segment: usize,
    pub(crate) items: Items,
    read: u64,
    units: f64,
    next: Segment,
}

/// What a page has.
pub(crate) enum Items {
    Records(Vec<StoredItem>),
    Effects(Vec<Item>),
}

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScanError {
    #[error("the table of records cannot be read")]
    Records(#[source] StoreError),
    #[error("the table {table:?} cannot be read ({code})")]
    Effects { table: String, code: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the state of this run names a place that is none; delete it, and the run begins anew")]
    Position,
}

/// Reads what the state says is left to be read. Segments of all tables are read side by side, as many at a time as one table has.
pub(crate) struct Scan<'a> {
    app: &'a App,
    reading: FuturesUnordered<BoxFuture<'a, Result<Page, ScanError>>>,
    waiting: VecDeque<(usize, usize)>,
    paces: Vec<Pace>,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(app: &'a App, state: &State) -> Self {
        let segments = state.tables.iter().enumerate().flat_map(|(table, tables)| {
            let open = tables.segments.iter().enumerate().filter(|(_, segment)| **segment != Segment::End);
            open.map(move |(segment, _)| (table, segment))
        });
        let paces = state.tables.iter().map(|_| Pace::new(app.settings.read_units_per_second)).collect();
        let mut scan = Self { app, reading: FuturesUnordered::new(), waiting: segments.collect(), paces };
        for _ in 0..app.settings.segments {
            scan.read_next(state);
        }
        scan
    }

    /// The next page, which the state does not know of yet; `None` when all is read.
    pub(crate) async fn page(&mut self) -> Option<Result<Page, ScanError>> {
        self.reading.next().await
    }

    /// Notes in the state that a page is taken in, and goes on behind it.
    pub(crate) fn taken(&mut self, state: &mut State, page: Page) {
        if let Some(table) = state.tables.get_mut(page.table) {
            table.items += page.read;
            table.read_units += page.units;
            if let Some(segment) = table.segments.get_mut(page.segment) {
                *segment = page.next.clone();
            }
        }
        if let Some(pace) = self.paces.get_mut(page.table) {
            pace.used(page.units);
        }
        if page.next != Segment::End {
            self.waiting.push_back((page.table, page.segment));
        }
        self.read_next(state);
    }

    fn read_next(&mut self, state: &State) {
        let Some((table, segment)) = self.waiting.pop_front() else { return };
        let Some(tables) = state.tables.get(table) else { return };
        let pause = self.paces.get(table).map_or(Duration::ZERO, Pace::pause);
        let app = self.app;
        let (name, segments) = (tables.name.clone(), tables.segments.len());
        let from = tables.segments.get(segment).cloned().unwrap_or(Segment::End);
        let described = table.checked_sub(1).and_then(|index| app.settings.effects.get(index)).cloned();
        let key = tables.key.clone();
        self.reading.push(Box::pin(async move {
            tokio::time::sleep(pause).await;
            let place = (table, segment, segments);
            match described {
                None => records(app, place, &from).await,
                Some(described) => effects(app, place, &name, &key, &described, &from).await,
            }
        }));
    }
}

type Place = (usize, usize, usize);

async fn records(app: &App, (table, segment, segments): Place, from: &Segment) -> Result<Page, ScanError> {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let scan =
        TableScan::new(number(segments)).records_only().key_prefix(format!("{}#", app.settings.namespace.as_str()));
    let from = match from {
        Segment::After(text) => text.parse::<ScanPosition>().map_err(|_| ScanError::Position)?,
        _ => scan.start(number(segment)),
    };
    let page = scan.page(&app.store, &from).await.map_err(ScanError::Records)?;
    Ok(Page {
        table,
        segment,
        read: page.items.len() as u64,
        units: page.read_units.unwrap_or(0.0),
        next: page.next.map_or(Segment::End, |next| Segment::After(next.to_string())),
        items: Items::Records(page.items),
    })
}

async fn effects(
    app: &App,
    (table, segment, segments): Place,
    name: &str,
    key: &[String],
    described: &EffectTable,
    from: &Segment,
) -> Result<Page, ScanError> {
    let number = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let from = match from {
        Segment::After(text) => Some(serde_json::from_str::<ItemKey>(text).map_err(|_| ScanError::Position)?.to_key()),
        _ => None,
    };
    // Only what is compared: the rest may be large, and is nobody's business.
    let wanted = described.business_key.iter().chain(&described.record).chain(&described.created_at).chain(key);
    let names: HashMap<String, String> =
        wanted.enumerate().map(|(index, name)| (format!("#a{index}"), name.clone())).collect();
    let names = distinct(names);
    let scan = app
        .store
        .client()
        .scan()
        .table_name(name)
        .segment(number(segment))
        .total_segments(number(segments))
        .projection_expression(names.keys().cloned().collect::<Vec<_>>().join(", "))
        .set_expression_attribute_names(Some(names))
        .set_exclusive_start_key(from)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let page = Box::pin(scan.send()).await.map_err(|error| ScanError::Effects {
        table: name.to_owned(),
        code: error.code().unwrap_or("no answer").to_owned(),
        source: error.into(),
    })?;
    let next = page.last_evaluated_key().map(|key| serde_json::to_string(&ItemKey::from_key(key)));
    Ok(Page {
        table,
        segment,
        read: page.count().max(0).unsigned_abs().into(),
        units: page.consumed_capacity().and_then(|consumed| consumed.capacity_units()).unwrap_or(0.0),
        next: match next {
            None => Segment::End,
            Some(next) => Segment::After(next.map_err(|_| ScanError::Position)?),
        },
        items: Items::Effects(page.items.unwrap_or_default()),
    })
}

/// DynamoDB refuses two placeholders of one attribute.
fn distinct(names: HashMap<String, String>) -> HashMap<String, String> {
    let by_name: HashMap<String, String> = names.into_iter().map(|(placeholder, name)| (name, placeholder)).collect();
    by_name.into_iter().map(|(name, placeholder)| (placeholder, name)).collect()
}
