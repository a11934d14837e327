//! What stands beside a record, in words.

use std::collections::{BTreeMap, BTreeSet};

use idempotency_core::{Destination, EpochMillis, ExecutionId, RowKind};
use idempotency_dynamodb::{AuditEntry, StoredItem};
use serde_json::{Value, json};

use super::time::{relative, utc};

/// What stands beside a record.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    steps: BTreeMap<(u32, String), Step>,
    memos: Vec<String>,
    events: Vec<Event>,
    pub(crate) audit: Vec<AuditEntry>,
    parts: usize,
    earlier_generations: usize,
    unreadable: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Step {
    has_output: bool,
    has_undo: bool,
    undone: bool,
}

/// A staged event. Its body is the receiver's.
#[derive(Debug)]
struct Event {
    id: String,
    to: String,
    staged: EpochMillis,
    sent: Option<EpochMillis>,
    body: usize,
}

impl Event {
    fn facts(&self) -> Value {
        let (staged, sent) = (utc(self.staged), self.sent.map(utc));
        json!({ "id": self.id, "to": self.to, "staged": staged, "sent": sent, "body_bytes": self.body })
    }
}

impl Beside {
    /// Sorts what belongs to a record's generation; `None` where there is no record.
    pub(crate) fn of(items: &[StoredItem], execution: Option<ExecutionId>) -> Self {
        let mut beside = Self::default();
        let mut undone = BTreeSet::new();
        for item in items {
            match item {
                StoredItem::Record(_) => {}
                StoredItem::Audit(entry) => beside.audit.push(entry.clone()),
                StoredItem::Part { .. } => beside.parts += 1,
                StoredItem::Event { entry, sent_at } => beside.events.push(Event {
                    id: entry.id.to_string(),
                    to: match &entry.destination {
                        Destination::EventBridge { source, detail_type } => {
                            format!("eventbridge {source} {detail_type}")
                        }
                        Destination::Queue { name } => format!("queue {name}"),
                    },
                    staged: entry.created_at,
                    sent: *sent_at,
                    body: entry.body.len(),
                }),
                StoredItem::Row(row) if Some(row.execution) != execution => beside.earlier_generations += 1,
                StoredItem::Row(row) => match &row.kind {
                    RowKind::Step { ordinal, has_undo } => {
                        let step = beside.steps.entry((*ordinal, row.name.clone())).or_default();
                        (step.has_output, step.has_undo) = (true, *has_undo);
                    }
                    // Only steps that can be undone say that they begin.
                    RowKind::Begun { ordinal } => {
                        beside.steps.entry((*ordinal, row.name.clone())).or_default().has_undo = true;
                    }
                    RowKind::Undone => {
                        undone.insert(row.name.clone());
                    }
                    RowKind::Memo { .. } => beside.memos.push(row.name.clone()),
                },
                other => beside.unreadable.push((other.sort_key(), unreadable(other))),
            }
        }
        for ((_, name), step) in &mut beside.steps {
            step.undone = undone.contains(name);
        }
        beside
    }

    /// How many steps have an output that later attempts read.
    pub(crate) fn done_steps(&self) -> usize {
        self.steps.values().filter(|step| step.has_output).count()
    }

    /// Names of the steps that are left to be undone.
    pub(crate) fn to_undo(&self) -> Vec<&str> {
        let left = self.steps.iter().filter(|(_, step)| step.has_undo && !step.undone);
        left.map(|((_, name), _)| name.as_str()).collect()
    }

    pub(crate) fn facts(&self) -> Value {
        let steps = self.steps.iter().map(|((ordinal, name), step)| {
            json!({
                "name": name, "place": ordinal, "state": step.state(), "has_undo": step.has_undo,
            })
        });
        json!({
            "steps": steps.collect::<Vec<_>>(),
            "memos": self.memos,
            "events": self.events.iter().map(Event::facts).collect::<Vec<_>>(),
            "parts": self.parts,
            "rows_of_earlier_generations": self.earlier_generations,
            "unreadable": self.unreadable.iter().map(|(sort_key, why)| json!({ "sort_key": sort_key, "why": why })).collect::<Vec<_>>(),
            "audit": self.audit.iter().map(audit_facts).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn lines(&self, now: EpochMillis) -> Vec<String> {
        let mut lines = Vec::new();
        for ((ordinal, name), step) in &self.steps {
            let undo = if step.has_undo { ", can be undone" } else { "" };
            lines.push(format!("step {ordinal} {name}: {}{undo}", step.state()));
        }
        lines.extend(self.memos.iter().map(|name| format!("memo {name}: stored")));
        lines.extend(self.events.iter().map(|event| match event.sent {
            Some(sent) => format!("event to {}: sent {}", event.to, utc(sent)),
            None => format!("event to {}: staged {}, not known to be sent", event.to, utc(event.staged)),
        }));
        if self.parts > 0 {
            lines.push(format!("{} parts of large results", self.parts));
        }
        if self.earlier_generations > 0 {
            lines.push(format!("{} rows of earlier generations, which nobody reads", self.earlier_generations));
        }
        lines.extend(self.unreadable.iter().map(|(sort_key, why)| format!("UNREADABLE {sort_key}: {why}")));
        lines.extend(self.audit.iter().map(|entry| {
            format!(
                "{} {}: {} by {}, was {}: {}",
                utc(entry.at),
                relative(entry.at, now),
                entry.action,
                entry.by,
                entry.status,
                entry.reason
            )
        }));
        lines
    }
}

impl Step {
    const fn state(&self) -> &'static str {
        match (self.undone, self.has_output) {
            (true, _) => "undone",
            (false, true) => "done",
            (false, false) => "begun, and nobody knows whether it was done",
        }
    }
}

pub(crate) fn audit_facts(entry: &AuditEntry) -> Value {
    json!({
        "at": utc(entry.at),
        "action": entry.action,
        "by": entry.by,
        "reason": entry.reason,
        "status_before": entry.status.as_str(),
        "owner_before": entry.owner.to_string(),
        "epoch_before": entry.epoch.get(),
        "status_after": entry.now.map(idempotency_core::Status::as_str),
    })
}

fn unreadable(item: &StoredItem) -> String {
    match item {
        StoredItem::Unreadable { error, .. } => error.to_string(),
        _ => "a kind of item that this version does not know".into(),
    }
}
