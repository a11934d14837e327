//! `idempotency resolve`: an operator says what has become of a key, or lets it be tried again.

use std::path::PathBuf;

use clap::Args;
use idempotency_core::{Engine, EpochMillis, Outcome, Record, Replaced, Resolution, Status, StoredResult};
use idempotency_dynamodb::DynamoDbStore;
use lambda_idempotency::function::{self, Failed};
use serde_json::{Value, json};

use super::{
    connection::{Connection, WITHIN},
    deed::{Deed, changed_meanwhile, draw, unwritten},
    error::{Exit, OperateError},
    explain::{State, facts},
    form::Form,
    identity::Identity,
    inspect::Found,
    output, response,
    rows::{Beside, audit_facts},
    time::relative,
};

/// Say what has become of a lost or stuck operation, or let it be tried again.
///
/// Find out first, at the callee, whether the effect happened. Then say so: --completed if it did, with what callers are to get;
/// --failed if it did not and must not; --rerun if it is to be tried again. Refused while an attempt may be running, and for operations that
/// have ended. The change applies to exactly the record that was shown, or not at all, and is written together with who, when and why.
#[derive(Clone, Debug, Args)]
pub(crate) struct Resolve {
    #[command(flatten)]
    pub(crate) connection: Connection,

    #[command(flatten)]
    identity: Identity,

    #[command(flatten)]
    saying: Saying,

    #[command(flatten)]
    deed: Deed,
}

#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
struct Saying {
    /// The effect happened (HTTP operations): later requests get this response. A JSON file, or - for standard input:
    /// {"status": 201, "headers": {"location": "/charges/ch_1"}, "body": {"id": "ch_1"}}; a binary body is "body_base64".
    #[arg(long, value_name = "RESPONSE.json|-", help_heading = "What has become of it")]
    completed: Option<PathBuf>,

    /// The effect happened (functions, messages): later calls get this JSON value; null where there is none.
    #[arg(long, value_name = "JSON", help_heading = "What has become of it")]
    completed_value: Option<String>,

    /// It failed for good, and nothing of it is left: later requests get this response (HTTP). Without one they get the failure that is
    /// stored, where there is one (stuck, compensating).
    #[arg(long, value_name = "RESPONSE.json|-", num_args = 0..=1, help_heading = "What has become of it")]
    #[expect(clippy::option_option, reason = "absent, without a value, with one")]
    failed: Option<Option<PathBuf>>,

    /// It failed for good, and nothing of it is left (functions, messages): later calls get a failure with this message.
    #[arg(long, value_name = "TEXT", help_heading = "What has become of it")]
    failed_message: Option<String>,

    /// Let the next request go on: it runs the handler again (steps that are done stay done), or, of a stuck operation, undoes what is
    /// left. Callers or queues must send that request; nothing runs by itself.
    #[arg(long, help_heading = "What has become of it")]
    rerun: bool,
}

impl Saying {
    const fn resolution(&self) -> Resolution {
        if self.rerun {
            Resolution::Rerun
        } else if self.completed.is_some() || self.completed_value.is_some() {
            Resolution::Completed
        } else {
            Resolution::Failed
        }
    }

    /// Which form the given result has; `None` where none is given.
    const fn form(&self) -> Option<Form> {
        match (&self.completed, &self.failed) {
            (Some(_), _) | (_, Some(Some(_))) => Some(Form::Response),
            _ if self.completed_value.is_some() || self.failed_message.is_some() => Some(Form::Value),
            _ => None,
        }
    }

    /// What later requests get; `None` for what is stored already.
    fn outcome(&self, found: &Record) -> Result<Option<Outcome>, OperateError> {
        if let Some(path) = self.completed.as_ref().or(self.failed.as_ref().and_then(Option::as_ref)) {
            return response::outcome(path).map(Some);
        }
        if let Some(text) = &self.completed_value {
            let value: Value = serde_json::from_str(text).map_err(|error| {
                OperateError::usage(format!(
                    "--completed-value is no JSON: {error}; text needs quotes of its own: '\"done\"'"
                ))
            })?;
            return Ok(Some(function::stored_value(&value)));
        }
        if let Some(message) = &self.failed_message {
            return Ok(Some(function::stored_failure(&Failed::new(message))));
        }
        if self.failed.is_some() && found.result.is_none() {
            return Err(OperateError::usage(
                "no failure is stored: say what callers are to get, with --failed RESPONSE.json (HTTP) or --failed-message TEXT",
            ));
        }
        Ok(None)
    }
}

impl Resolve {
    pub(crate) async fn run(self) -> Result<Exit, OperateError> {
        let key = self.identity.record_key(&self.connection)?;
        if let (Some(given), Some(known)) = (self.saying.form(), self.identity.form()) {
            given.check(known)?;
        }
        let engine = self.connection.engine().await?;
        let found = Found::read(engine.store(), &key).await?;
        let (beside, now) = (found.beside(), self.connection.now());
        let Some(record) = found.record else {
            return Err(OperateError::NotMet(format!(
                "there is no record {key}: the next request with this key runs by itself"
            )));
        };
        let resolution = self.saying.resolution();
        resolution.check(&record, now).map_err(|why| OperateError::NotMet(format!("{}: {why}", record.key)))?;
        let outcome = self.saying.outcome(&record)?;
        let action = action(resolution, record.status);
        let audit = self.deed.audit(&self.connection, &record, action, now).await?;
        let mut plan = plan(resolution, &record, &beside, now);
        if let (Some(given), None) = (self.saying.form(), self.identity.form()) {
            match Form::of_operation(&engine, &record).await {
                Some(known) => given.check(known)?,
                None => plan.push(given.doubt()),
            }
        }
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
                true => output::json(&json!({ "would": action, "record": facts(&record, now), "plan": plan })),
                false => output::line("Nothing was changed (--dry-run)."),
            }
            .map(|()| Exit::Fine);
        }
        self.deed.confirm(self.connection.json)?;
        let resolved = apply(&engine, resolution, &record, outcome, now).await?;
        let audit = idempotency_dynamodb::AuditEntry { now: Some(resolved.status), ..audit };
        let replaced = engine.store().replace_audited(&record, &resolved, &audit, WITHIN).await.map_err(unwritten)?;
        if replaced != Replaced::Replaced {
            return Err(changed_meanwhile());
        }
        output::told(match self.connection.json {
            true => {
                output::json(&json!({ "done": action, "record": facts(&resolved, now), "audit": audit_facts(&audit) }))
            }
            false => output::line(format!("Done: it is {} now, by {}.", State::of(&resolved, now).name(), audit.by)),
        });
        Ok(Exit::Fine)
    }
}

/// The record to write. Parts of a large result are stored before it refers to them.
async fn apply(
    engine: &Engine<DynamoDbStore>,
    resolution: Resolution,
    found: &Record,
    outcome: Option<Outcome>,
    now: EpochMillis,
) -> Result<Record, OperateError> {
    let owner = draw()?;
    let outcome = match (outcome, resolution) {
        // What is kept for longer than it was to be must not lose its parts: they are stored anew.
        (None, Resolution::Failed) => stored_in_parts(engine, found).await?,
        (outcome, _) => outcome,
    };
    let Some(outcome) = outcome else { return Ok(resolution.apply(found, None, owner, now)) };
    // Whose parts they will be, and for how long.
    let to_be = resolution.apply(found, Some(StoredResult::Inline(bytes::Bytes::new())), owner, now);
    let result = engine.store_result(&to_be, &outcome, WITHIN).await.map_err(unwritten)?;
    Ok(Record { result: Some(result), ..to_be })
}

/// The result that stands beside the record, if it does.
async fn stored_in_parts(engine: &Engine<DynamoDbStore>, found: &Record) -> Result<Option<Outcome>, OperateError> {
    if !matches!(found.result, Some(StoredResult::Parts(_))) {
        return Ok(None);
    }
    let replay = engine.read_result(found, WITHIN).await;
    let replay = replay.map_err(|source| OperateError::Aws {
        what: "the stored failure cannot be read; say what callers are to get",
        source: source.into(),
    })?;
    Ok(replay.body().map(|body| Outcome::new(body.to_vec())))
}

const fn action(resolution: Resolution, status: Status) -> &'static str {
    match (resolution, status) {
        (Resolution::Completed, _) => "completed",
        (Resolution::Failed, _) => "failed",
        (Resolution::Rerun, Status::Stuck) => "undo-again",
        (Resolution::Rerun, _) => "rerun",
    }
}

/// What it means, for whoever is about to say yes.
fn plan(resolution: Resolution, found: &Record, beside: &Beside, now: EpochMillis) -> Vec<String> {
    let is_undoing = matches!(found.status, Status::Stuck | Status::Compensating);
    let left = beside.to_undo();
    let mut plan = Vec::new();
    match resolution {
        Resolution::Rerun if found.status == Status::Stuck => {
            plan.push("The next request with this key undoes what is left, and then gets the stored failure. The handler does not run.".into());
            plan.push(format!("Left to be undone, the last first: {}.", named(&left)));
            plan.push(format!(
                "It must come before the record is forgotten, {}: after that nobody undoes anything.",
                relative(found.expires_at.to_millis(), now)
            ));
        }
        Resolution::Rerun => {
            plan.push("The next request with this key runs the handler again, whatever `on_abandoned` says. If the lost attempt's effect happened, it \
                       happens a second time unless the callee knows the key.".into());
            if beside.done_steps() > 0 {
                plan.push(format!(
                    "{} finished steps stand: their stored outputs are read, and their calls are not made again.",
                    beside.done_steps()
                ));
            }
        }
        Resolution::Completed => {
            plan.push("Every later request with this key gets the result that you give, and nothing runs.".into());
            if is_undoing {
                plan.push("The stored failure is forgotten, and steps that were undone already stay undone: only say this if you have made good by \
                           hand what is missing.".into());
            }
        }
        Resolution::Failed => {
            plan.push("Every later request with this key gets the failure, and nothing runs.".into());
            if !left.is_empty() {
                plan.push(format!(
                    "Nothing will be undone any more: {}. Only say this if you have done that by hand.",
                    named(&left)
                ));
            }
        }
    }
    plan
}

fn named(steps: &[&str]) -> String {
    match steps.is_empty() {
        true => "no step that is known here".into(),
        false => steps.iter().rev().copied().collect::<Vec<_>>().join(", "),
    }
}
