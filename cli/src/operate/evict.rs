//! `idempotency evict`: a key is new again.

use clap::Args;
use idempotency_core::{Record, Replaced, Status, removable};
use idempotency_dynamodb::StoredItem;
use serde_json::json;

use super::{
    connection::{Connection, WITHIN},
    deed::{Deed, changed_meanwhile, unwritten},
    error::{Exit, OperateError},
    explain::{State, facts},
    identity::Identity,
    inspect::Found,
    output,
    rows::audit_facts,
};

/// Remove a record with what stands beside it, so that its key is new.
///
/// Whoever sends the key next has the operation carried out, although it may have been before: evict only what must not be replayed, such
/// as a response that was wrong. To let a lost attempt be tried again, use `resolve --rerun`, which keeps finished steps. Refused while an
/// attempt may be running. Staged events stay, for they tell of what happened; so does the word about who evicted it, for a year.
#[derive(Clone, Debug, Args)]
pub(crate) struct Evict {
    #[command(flatten)]
    pub(crate) connection: Connection,

    #[command(flatten)]
    identity: Identity,

    #[command(flatten)]
    deed: Deed,
}

impl Evict {
    pub(crate) async fn run(self) -> Result<Exit, OperateError> {
        let key = self.identity.record_key(&self.connection)?;
        let store = self.connection.store().await?;
        let found = Found::read(&store, &key).await?;
        let now = self.connection.now();
        let Some(record) = found.record else {
            return Err(OperateError::NotMet(format!("there is no record {key}: the key is new already")));
        };
        removable(&record, now).map_err(|why| OperateError::NotMet(format!("{}: {why}", record.key)))?;
        let audit = self.deed.audit(&self.connection, &record, "evicted", now).await?;
        let beside: Vec<String> = found.items.iter().filter(|item| goes(item)).map(StoredItem::sort_key).collect();
        let plan = plan(&record, beside.len());
        if !self.connection.json {
            output::line(format!(
                "{} is {}: {}",
                record.key,
                State::of(&record, now).name(),
                State::of(&record, now).meaning()
            ))?;
            plan.iter().try_for_each(|line| output::line(format!("  {line}")))?;
        }
        if self.deed.dry_run {
            return match self.connection.json {
                true => output::json(&json!({ "would": "evict", "record": facts(&record, now), "plan": plan })),
                false => output::line("Nothing was changed (--dry-run)."),
            }
            .map(|()| Exit::Fine);
        }
        self.deed.confirm(self.connection.json)?;
        // The record first: without it nobody reads what stands beside it.
        match store.remove_audited(&record, &audit, WITHIN).await.map_err(unwritten)? {
            Replaced::Replaced => {}
            Replaced::Differs(_) => return Err(changed_meanwhile()),
        }
        let removed = store.delete_beside(&record.key, beside, WITHIN).await;
        let removed = removed.map_err(OperateError::table(
            "the record is evicted; some of what stood beside it is left, and expires by itself",
        ))?;
        output::told(match self.connection.json {
            true => output::json(&json!({
                "done": "evicted", "record": facts(&record, now), "rows_removed": removed, "audit": audit_facts(&audit),
            })),
            false => output::line(format!(
                "Done: the key is new, by {}; {removed} rows beside the record are removed.",
                audit.by
            )),
        });
        Ok(Exit::Fine)
    }
}

/// What goes with the record: what only its generations read.
const fn goes(item: &StoredItem) -> bool {
    matches!(item, StoredItem::Row(_) | StoredItem::Part { .. })
}

fn plan(record: &Record, beside: usize) -> Vec<String> {
    let mut plan = vec![
        "The next request with this key, whatever it asks for, runs the handler as if the key were new.".to_owned(),
    ];
    plan.extend(match record.status {
        Status::Completed => Some("Its effect HAPPENED: unless the callee knows the key, it happens again.".to_owned()),
        Status::InFlight => {
            Some("Nobody knows whether its effect happened; if it did, it may happen again.".to_owned())
        }
        Status::Stuck | Status::Compensating => Some(
            "What it did before it failed is not all undone, and will be forgotten. `resolve` keeps it.".to_owned(),
        ),
        Status::Released | Status::Failed => None,
    });
    if beside > 0 {
        plan.push(format!(
            "{beside} rows beside it go too (steps, memos, parts of results). Steps run again, under the keys that they had: a callee that \
             remembers them answers with what was."
        ));
    }
    plan
}
