//! What commits beside a record: all of it or nothing, and the first thing in the way is told.

use std::sync::Arc;

use idempotency_core::{
    AttributeValue, Committed, Effect, Item, Record, Replaced, StageError, Status, Store, TableWrite, Write,
};
use serde_json::json;
use uuid::Uuid;

use super::commits::{ROUNDS, commit, event, record, winner};
use super::config::Config;
use super::counters::Counters;
use super::expect::{answered, expect, failed, named};
use super::failure::{FailedCall, Nonconformance};
use super::races::{at_the_same_time, fresh_key};
use super::report::Report;

const ALL: &str = "all effects are written with the record, and none of them twice";
const MANY: &str = "ninety-nine effects commit beside a record";
const FORMS: &str = "each form of a write does what it says";
const RECORD_FIRST: &str = "a record that is refused is told whatever else is in the way, and nothing is written";
const EFFECT: &str =
    "an effect that is refused is told by its place and the item that refuses it, and nothing is written";
const ALONE: &str = "effects without a record are all written or none";
const SAME_KEY: &str = "of many commits of one key the effects of one are written";
const WITH_REPLACE: &str = "effects are written exactly if their commit wins against replaces";
const OTHER_KEYS: &str = "no effect is lost among those of other keys";

/// Checks what a store commits beside records, in a table of the caller's. All keys are new; what was written stays.
///
/// Dropping the future ends the check, and calls that are on their way may still be applied.
///
/// # Errors
///
/// [`Nonconformance`], with the call whose answer or effect the contract does not allow.
pub async fn check_effects<S: Store>(
    store: S,
    counters: &impl Counters,
    config: &Config,
) -> Result<Report, Nonconformance> {
    let mut report = Report::default();
    let checks = Checks { store: Arc::new(store), counters, config };
    named(ALL, checks.all(), &mut report).await?;
    named(MANY, checks.many(), &mut report).await?;
    named(FORMS, checks.forms(), &mut report).await?;
    named(RECORD_FIRST, checks.record_first(), &mut report).await?;
    named(EFFECT, checks.effect(), &mut report).await?;
    named(ALONE, checks.alone(), &mut report).await?;
    named(SAME_KEY, checks.same_key(), &mut report).await?;
    named(WITH_REPLACE, checks.with_replace(), &mut report).await?;
    named(OTHER_KEYS, checks.other_keys(), &mut report).await?;
    Ok(report)
}

struct Checks<'a, S, C> {
    store: Arc<S>,
    counters: &'a C,
    config: &'a Config,
}

/// A condition that no item of these checks meets.
const NEVER: &str = "n > :enough";

impl<S: Store, C: Counters> Checks<'_, S, C> {
    async fn all(&self) -> Result<(), FailedCall> {
        let (first, ids) = (record(&fresh_key(), 1), [(); 3].map(|()| id()));
        let mut effects = self.raises(&ids)?;
        effects.insert(1, event(&first, 0)?);
        let write = Write::Insert(first.clone());
        self.commits(Some(&write), &effects, &Committed::Committed).await?;
        self.numbers(&ids, Some(1)).await?;
        self.commits(Some(&write), &effects, &Committed::Refused(Some(first.clone()))).await?;
        self.numbers(&ids, Some(1)).await?;
        let write = Write::Replace { expected: first.version(), record: record(&first.key, 2) };
        self.commits(Some(&write), &effects, &Committed::Committed).await?;
        self.numbers(&ids, Some(2)).await
    }

    async fn many(&self) -> Result<(), FailedCall> {
        let (record, ids) = (record(&fresh_key(), 1), [id(), id()]);
        let mut effects = (0..97).map(|ordinal| event(&record, ordinal)).collect::<Result<Vec<_>, _>>()?;
        effects.extend(self.raises(&ids)?);
        self.commits(Some(&Write::Insert(record.clone())), &effects, &Committed::Committed).await?;
        self.stored(&record, true).await?;
        self.numbers(&ids, Some(1)).await
    }

    async fn forms(&self) -> Result<(), FailedCall> {
        let ids @ [put, inserted, raised, updated, deleted, checked] = &[(); 6].map(|()| id());
        let (table, write) = (self.counters.table(), |id: &str| Write::Insert(record(&fresh_key(), id.len() as u8)));
        let forms = |round: i64| {
            let item = |id: &str| json!({ "id": id, "n": round });
            let key = |id: &str| json!({ "id": id });
            Ok::<_, StageError>([
                TableWrite::put(table, item(put))?,
                TableWrite::insert(table, item(inserted), "id")?,
                TableWrite::increment(table, key(raised), "n", 5)?,
                TableWrite::update(table, key(updated), "SET #n = :n")?.name("#n", "n").value(":n", round)?,
                TableWrite::delete(table, key(deleted))?.only_if("attribute_exists(id)"),
                TableWrite::check(table, key(checked), "n = :n")?.value(":n", 0)?,
            ])
        };
        let before = [deleted, checked].map(|id| TableWrite::put(table, json!({ "id": id, "n": 0 })));
        let before = before.into_iter().map(|put| put.map(Effect::Table)).collect::<Result<Vec<_>, _>>();
        self.commits(None, &staged(before)?, &Committed::Committed).await?;
        let effects = staged(forms(7))?.map(Effect::Table);
        self.commits(Some(&write(put)), &effects, &Committed::Committed).await?;
        for (id, expected) in ids.iter().zip([Some(7), Some(7), Some(5), Some(7), None, Some(0)]) {
            self.numbers(std::slice::from_ref(id), expected).await?;
        }
        // The one that is inserted is there now, the deleted one is not.
        let [put, insert, raise, update, delete, check] = staged(forms(8))?.map(Effect::Table);
        let again = [put, raise, update, check];
        self.commits(Some(&write(inserted)), &again, &Committed::Committed).await?;
        let refused = Committed::EffectRefused { index: 0, item: Some(item(inserted, 7)) };
        self.commits(Some(&write(raised)), &[insert], &refused).await?;
        let refused = Committed::EffectRefused { index: 0, item: None };
        self.commits(Some(&write(deleted)), &[delete], &refused).await?;
        for (id, expected) in ids.iter().zip([Some(8), Some(7), Some(10), Some(8), None, Some(0)]) {
            self.numbers(std::slice::from_ref(id), expected).await?;
        }
        Ok(())
    }

    async fn record_first(&self) -> Result<(), FailedCall> {
        let (first, ids) = (Record { status: Status::InFlight, ..record(&fresh_key(), 1) }, [id(), id()]);
        answered("insert", self.store.insert_if_absent(&first, self.config.within).await)?;
        let mut effects = self.raises(&ids)?;
        effects.push(self.refused(&id())?);
        let other = record(&first.key, 2);
        let writes =
            [Write::Insert(other.clone()), Write::Replace { expected: other.version(), record: other.clone() }];
        for write in writes {
            self.commits(Some(&write), &effects, &Committed::Refused(Some(first.clone()))).await?;
        }
        let absent = record(&fresh_key(), 1);
        let write = Write::Replace { expected: absent.version(), record: absent.clone() };
        self.commits(Some(&write), &effects, &Committed::Refused(None)).await?;
        self.stored(&first, true).await?;
        self.stored(&absent, false).await?;
        self.numbers(&ids, None).await
    }

    async fn effect(&self) -> Result<(), FailedCall> {
        let (ids, there) = ([id(), id()], id());
        self.commits(None, &self.raises(std::slice::from_ref(&there))?, &Committed::Committed).await?;
        for (refusing, item) in [(&there, Some(item(&there, 1))), (&id(), None)] {
            for index in 0..=2 {
                let absent = record(&fresh_key(), 1);
                let mut effects = self.raises(&ids)?;
                effects.insert(index, self.refused(refusing)?);
                let refused = Committed::EffectRefused { index, item: item.clone() };
                self.commits(Some(&Write::Insert(absent.clone())), &effects, &refused).await?;
                self.stored(&absent, false).await?;
                let old = Record { status: Status::InFlight, ..absent.clone() };
                answered("insert", self.store.insert_if_absent(&old, self.config.within).await)?;
                let write = Write::Replace { expected: old.version(), record: absent };
                effects.insert(0, event(&old, 0)?);
                let refused = Committed::EffectRefused { index: index + 1, item: item.clone() };
                self.commits(Some(&write), &effects, &refused).await?;
                self.stored(&old, true).await?;
            }
        }
        self.numbers(&ids, None).await?;
        self.numbers(&[there], Some(1)).await
    }

    async fn alone(&self) -> Result<(), FailedCall> {
        let ids = [id(), id()];
        let mut effects = self.raises(&ids)?;
        self.commits(None, &effects, &Committed::Committed).await?;
        effects.push(self.refused(&id())?);
        self.commits(None, &effects, &Committed::EffectRefused { index: 2, item: None }).await?;
        self.numbers(&ids, Some(1)).await
    }

    async fn same_key(&self) -> Result<(), FailedCall> {
        for _ in 0..ROUNDS {
            let (key, ids) = (fresh_key(), [id(), id()]);
            let records: Vec<_> = (0..self.config.callers).zip(1_u8..).map(|(_, owner)| record(&key, owner)).collect();
            let (effects, within) = (self.raises(&ids)?, self.config.within);
            let call = |store: Arc<S>, record: Record| {
                let effects = effects.clone();
                async move {
                    let write = Write::Insert(record.clone());
                    Ok((record, commit(&*store, Some(&write), &effects, within).await?))
                }
            };
            let answers = at_the_same_time(&self.store, records, call).await;
            winner(answers.into_iter().collect::<Result<Vec<_>, FailedCall>>()?)?;
            self.numbers(&ids, Some(1)).await?;
        }
        Ok(())
    }

    async fn with_replace(&self) -> Result<(), FailedCall> {
        for round in 0..ROUNDS {
            let (first, id) = (Record { status: Status::InFlight, ..record(&fresh_key(), 0) }, [id()]);
            let (expected, within, effects) = (first.version(), self.config.within, self.raises(&id)?);
            answered("insert", self.store.insert_if_absent(&first, within).await)?;
            let records =
                (0..self.config.callers).zip(1_u8..).map(|(caller, owner)| (caller, record(&first.key, owner)));
            let call = |store: Arc<S>, (caller, record): (usize, Record)| {
                let effects = effects.clone();
                async move {
                    if (caller + round) % 2 == 0 {
                        let replaced = answered("replace", store.replace(expected, &record, within).await)?;
                        return Ok((replaced == Replaced::Replaced, false));
                    }
                    let write = Write::Replace { expected, record };
                    let committed = commit(&*store, Some(&write), &effects, within).await?;
                    Ok((committed == Committed::Committed, committed == Committed::Committed))
                }
            };
            let answers = at_the_same_time(&self.store, records.collect(), call).await;
            let answers = answers.into_iter().collect::<Result<Vec<_>, FailedCall>>()?;
            let winners = answers.iter().filter(|(won, _)| *won).count();
            if winners != 1 {
                return Err(failed("commit and replace one version", "one wins", &format!("{winners} win")));
            }
            let committed = answers.iter().any(|(_, committed)| *committed);
            self.numbers(&id, committed.then_some(1)).await?;
        }
        Ok(())
    }

    async fn other_keys(&self) -> Result<(), FailedCall> {
        let (ids, within) = ([id(), id()], self.config.within);
        let raises = self.raises(&ids)?;
        let callers: Vec<_> = (0..self.config.callers).map(|_| record(&fresh_key(), 1)).collect();
        let call = |store: Arc<S>, record: Record| {
            let effects = raises.clone();
            async move { commit(&*store, Some(&Write::Insert(record)), &effects, within).await }
        };
        for committed in at_the_same_time(&self.store, callers, call).await {
            expect("commit beside other keys", Ok(committed?), &Committed::Committed)?;
        }
        self.numbers(&ids, i64::try_from(self.config.callers).ok()).await
    }

    async fn commits(&self, write: Option<&Write>, effects: &[Effect], expected: &Committed) -> Result<(), FailedCall> {
        let committed = commit(&*self.store, write, effects, self.config.within).await?;
        expect(&format!("commit {} effects", effects.len()), Ok(committed), expected)
    }

    /// Whether exactly this record is stored.
    async fn stored(&self, record: &Record, is_stored: bool) -> Result<(), FailedCall> {
        let stored = self.store.get(&record.key, self.config.within).await;
        expect("read the record", stored, &is_stored.then(|| record.clone()))
    }

    async fn numbers(&self, ids: &[String], expected: Option<i64>) -> Result<(), FailedCall> {
        for id in ids {
            let call = format!("read the counter {id}");
            let number = self.counters.number(id).await;
            let number = number.map_err(|error| failed(&call, &format!("{expected:?}"), &error.to_string()))?;
            expect(&call, Ok(number), &expected)?;
        }
        Ok(())
    }

    /// Each raises a counter by 1.
    fn raises(&self, ids: &[String]) -> Result<Vec<Effect>, FailedCall> {
        let raise = |id| TableWrite::increment(self.counters.table(), json!({ "id": id }), "n", 1).map(Effect::Table);
        staged(ids.iter().map(raise).collect())
    }

    /// A raise that is refused.
    fn refused(&self, id: &str) -> Result<Effect, FailedCall> {
        let raise = TableWrite::increment(self.counters.table(), json!({ "id": id }), "n", 1);
        staged(raise.and_then(|raise| raise.only_if(NEVER).value(":enough", 1_000_000)).map(Effect::Table))
    }
}

fn id() -> String {
    Uuid::new_v4().to_string()
}

fn item(id: &str, n: i64) -> Item {
    let attributes = [("id", AttributeValue::S(id.to_owned())), ("n", AttributeValue::N(n.to_string()))];
    Item::from(std::collections::HashMap::from(attributes.map(|(name, value)| (name.to_owned(), value))))
}

fn staged<T>(staged: Result<T, StageError>) -> Result<T, FailedCall> {
    staged.map_err(|error| failed("make a write", "one", &error.to_string()))
}
