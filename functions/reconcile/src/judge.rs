//! What belongs together, compared.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use idempotency_core::RecordKey;
use serde_json::json;

use crate::{config::Settings, effect_table::EffectTable, entry::Entry, findings::Findings};

/// What is younger than this when a run begins is not judged: tables are read one after the other and eventually consistent, and what
/// is in flight has not both of its sides yet.
pub(crate) const SETTLED: Duration = Duration::from_secs(3600);

/// How many items of one business key are shown.
const ITEMS: usize = 10;

/// Entries of one pass over a partition, by what they have in common. It grows with the number of different keys, not with that of
/// entries.
#[derive(Default)]
pub(crate) struct Comparison {
    businesses: HashMap<(usize, Vec<String>), Group>,
    sides: HashMap<String, Side>,
}

/// Items with one business key.
#[derive(Default)]
struct Group {
    count: u64,
    /// The first of them.
    items: Vec<String>,
}

/// What is known under one record.
#[derive(Default)]
struct Side {
    record: Option<(i64, bool)>,
    /// Places of the tables that have an effect of it.
    tables: BTreeSet<usize>,
    /// Effects that must have a record.
    orphans: u64,
    orphan: Option<(usize, String)>,
}

impl Comparison {
    /// Takes an entry in. All that belong to it must be taken in before the comparison ends.
    pub(crate) fn take(&mut self, settings: &Settings, started_at: i64, entry: Entry) {
        match entry {
            Entry::Business { table, key, item } => {
                let group = self.businesses.entry((table, key)).or_default();
                group.count += 1;
                if group.items.len() < ITEMS {
                    group.items.push(item);
                }
            }
            Entry::Effect { table, record, item, at } => {
                let side = self.sides.entry(record).or_default();
                side.tables.insert(table);
                let age = |at: i64| started_at.saturating_sub(at);
                // An hour before the end of its time a record may be gone already by the clock of another machine.
                let (settled, remembered) = (millis(SETTLED), millis(settings.remembered_for));
                if at.is_some_and(|at| age(at) >= settled && age(at) < remembered - settled) {
                    side.orphans += 1;
                    side.orphan.get_or_insert((table, item));
                }
            }
            Entry::Record { record, claimed_at, has_effect } => {
                self.sides.entry(record).or_default().record = Some((claimed_at, has_effect));
            }
        }
    }

    /// Notes what does not fit.
    pub(crate) fn end(self, settings: &Settings, started_at: i64, findings: &mut Findings) {
        for ((table, key), group) in self.businesses.into_iter().filter(|(_, group)| group.count > 1) {
            findings.duplicates.add(group.count - 1, || {
                json!({ "table": name(settings, table), "business_key": key, "items": group.items, "count": group.count })
            });
        }
        for (record, side) in self.sides {
            match side.record {
                None => {
                    if let Some((table, item)) = side.orphan {
                        findings.effects_without_record.add(side.orphans, || {
                            json!({ "table": name(settings, table), "item": item, "record": record, "count": side.orphans })
                        });
                    }
                }
                Some((claimed_at, true)) if started_at.saturating_sub(claimed_at) >= millis(SETTLED) => {
                    missing_effects(settings, &record, &side.tables, findings);
                }
                Some(_) => {}
            }
        }
    }
}

fn missing_effects(settings: &Settings, record: &str, tables: &BTreeSet<usize>, findings: &mut Findings) {
    let key = RecordKey::from_stored(record);
    let is_of = |name: &String| key.operation_name() == Some(name);
    for (index, table) in settings.effects.iter().enumerate() {
        if table.operations.iter().any(is_of) && !tables.contains(&index) {
            findings.records_without_effect.add(1, || json!({ "record": record, "table": table.table }));
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn name(settings: &Settings, table: usize) -> &str {
    settings.effects.get(table).map_or("", |table: &EffectTable| &table.table)
}

#[cfg(test)]
mod tests;
