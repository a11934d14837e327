//! `idempotency inspect`: one record in words.

use clap::Args;
use idempotency_core::{EpochMillis, Record, RecordKey, Status, StoredResult};
use idempotency_dynamodb::{DynamoDbStore, StoredItem};
use serde_json::{Value, json};

use super::{
    connection::{Connection, WITHIN},
    error::{Exit, OperateError},
    explain::{State, duplicate_gets, facts, lines},
    identity::Identity,
    output,
    rows::Beside,
    stored_result,
};

/// Find one record and explain it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) connection: Connection,

    #[command(flatten)]
    identity: Identity,

    /// Print the stored result too: the response or value that callers get, which may be a customer's data.
    #[arg(long)]
    show_result: bool,
}

/// A record and what stands beside it.
pub(crate) struct Found {
    pub(crate) record: Option<Record>,
    pub(crate) items: Vec<StoredItem>,
}

impl Found {
    /// Reads all that belongs to a key.
    pub(crate) async fn read(store: &DynamoDbStore, key: &RecordKey) -> Result<Self, OperateError> {
        let items = store.partition(key, WITHIN).await.map_err(OperateError::table("the record cannot be read"))?;
        let record = items.iter().find_map(|item| match item {
            StoredItem::Record(record) => Some(record.clone()),
            _ => None,
        });
        // A record that cannot be read is never taken for absent.
        for item in &items {
            if let (StoredItem::Unreadable { error, .. }, "claim") = (item, item.sort_key().as_str()) {
                return Err(OperateError::Table {
                    what: "there is a record, and it cannot be read",
                    source: error.clone().into(),
                });
            }
        }
        Ok(Self { record, items })
    }

    /// How many parts of the record's result are missing. Without one of them nobody can read it.
    fn missing_parts(&self) -> usize {
        let Some(Record { result: Some(StoredResult::Parts(parts)), owner, .. }) = &self.record else { return 0 };
        let found = self.items.iter().filter(|item| item.is_part_of(*owner)).count();
        (parts.count as usize).saturating_sub(found)
    }

    pub(crate) fn beside(&self) -> Beside {
        Beside::of(&self.items, self.record.as_ref().map(|record| record.execution))
    }
}

impl Inspect {
    pub(crate) async fn run(self) -> Result<Exit, OperateError> {
        let key = self.identity.record_key(&self.connection)?;
        let engine = self.connection.engine().await?;
        let found = Found::read(engine.store(), &key).await?;
        let now = self.connection.now();
        let Some(record) = &found.record else { return self.absent(&key, &found, now) };
        let shown = match self.show_result {
            true => Some(stored_result::read(&engine, record).await?),
            false => None,
        };
        match self.connection.json {
            true => output::json(&self.json(record, &found, shown, now))?,
            false => print(record, &found, shown, now)?,
        }
        Ok(Exit::Fine)
    }

    /// There is no record. What it means, and what is left of one.
    fn absent(&self, key: &RecordKey, found: &Found, now: EpochMillis) -> Result<Exit, OperateError> {
        let beside = found.beside();
        if self.connection.json {
            output::json(&json!({ "record": key.as_str(), "state": "absent", "beside": beside.facts() }))?;
            return Ok(Exit::Found);
        }
        output::line(format!("There is no record {key}"))?;
        output::line(
            "Either the request was never claimed (it never arrived, or was refused before), or its record has expired and was deleted, \
             or an operator has evicted it. The next request with this key runs.",
        )?;
        if let Some(hint) = self.identity.hint() {
            output::line(format!("If you expected one: {hint}."))?;
        }
        beside.lines(now).into_iter().try_for_each(|line| output::line(format!("  {line}")))?;
        Ok(Exit::Found)
    }

    fn json(&self, record: &Record, found: &Found, shown: Option<Value>, now: EpochMillis) -> Value {
        let mut value = facts(record, now);
        let gets: serde_json::Map<_, _> =
            gets(record, found, now).into_iter().map(|(name, answer)| (name.to_owned(), answer.into())).collect();
        if let Value::Object(members) = &mut value {
            members.insert("meaning".into(), State::of(record, now).meaning().into());
            members.insert("a_duplicate_gets".into(), gets.into());
            members.insert("missing_parts".into(), found.missing_parts().into());
            members.insert("beside".into(), found.beside().facts());
            members.extend(shown.map(|shown| ("result_shown".into(), shown)));
        }
        value
    }
}

/// What a duplicate gets, whose result may be lost.
fn gets(record: &Record, found: &Found, now: EpochMillis) -> [(&'static str, String); 3] {
    let lost = record.status.is_terminal() && found.missing_parts() > 0;
    duplicate_gets(record, now).map(|(name, answer)| match (lost, record.status) {
        (false, _) => (name, answer),
        (true, Status::Failed) => {
            (name, "its failure, without what it said (HTTP 500, failure-unreadable); nothing runs".into())
        }
        (true, _) => (name, "result-unreadable (HTTP 500): parts of the result are missing; nothing runs".into()),
    })
}

fn print(record: &Record, found: &Found, shown: Option<Value>, now: EpochMillis) -> Result<(), OperateError> {
    let state = State::of(record, now);
    output::line(record.key.as_str())?;
    output::line(format!("{}: {}", state.name(), state.meaning()))?;
    output::line("")?;
    for (name, text) in lines(record, now) {
        output::line(format!("  {name:<10} {text}"))?;
    }
    output::line("")?;
    output::line("The same request, sent again now, gets:")?;
    let gets = gets(record, found, now);
    match gets.iter().all(|(_, answer)| Some(answer) == gets.first().map(|(_, first)| first)) {
        true => gets.first().into_iter().try_for_each(|(_, answer)| output::line(format!("  {answer}")))?,
        false => gets.iter().try_for_each(|(name, answer)| output::line(format!("  under {name:<7} {answer}")))?,
    }
    if found.missing_parts() > 0 {
        output::line(format!(
            "  MISSING: {} parts of the result, without which it cannot be read",
            found.missing_parts()
        ))?;
    }
    let lines = found.beside().lines(now);
    if !lines.is_empty() {
        output::line("")?;
        output::line("Beside the record:")?;
        lines.into_iter().try_for_each(|line| output::line(format!("  {line}")))?;
    }
    if let Some(shown) = shown {
        output::line("")?;
        output::line(format!("The stored result: {shown}"))?;
    }
    if state.needs_attention() {
        output::line("")?;
        output::line("What to do: `idempotency resolve --help`, and the guide docs/guide/operations.md.")?;
    }
    Ok(())
}
