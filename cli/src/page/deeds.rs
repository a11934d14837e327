//! The buttons.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use axum::http::StatusCode;
use base64::Engine as _;
use bytes::Bytes;
use idempotency_core::{Clock, SystemClock};
use idempotency_dynamodb::DynamoDbStore;
use idempotency_testkit::{
    fault_proxy::{Fault, Rule, Rules},
    lambda::{AsyncInvoker, Function},
    sqs::{self, Message, MessageAttribute, Queue},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{store_request::Write, timeline::Timeline};
use crate::{Records, Stack, Trigger, error::in_one_line, ready_made::ReadyMade};

/// A button that was pressed.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "button", rename_all = "snake_case")]
pub(super) enum Press {
    /// Send something new to the function.
    Example,
    /// Send what an entry of the timeline was about once more.
    Duplicate { entry: u64 },
    /// Kill a sandbox.
    Kill { sandbox: String },
    /// Lose the reply to the next request of a kind.
    DropReply { write: Write },
    /// Kill the sandbox at the next request of a kind, before the store has it.
    KillAt { write: Write },
    /// Do what the end of every lease does.
    EndLeases,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("there is no invocation {0} on the timeline, or not any more")]
    NoEntry(u64),
    #[error("its event was over 256 KB and was not kept: send it yourself")]
    NotKept,
    #[error("there is no sandbox {0}: it has ended")]
    NoSandbox(String),
    #[error("the next {0} is waited for already")]
    Armed(&'static str),
    #[error("nothing is known that this function could be sent: send it something yourself")]
    NoExample,
    #[error("{0}")]
    Failed(String),
}

impl Refused {
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::NoEntry(_) | Self::NoSandbox(_) => StatusCode::NOT_FOUND,
            Self::NotKept | Self::Armed(_) | Self::NoExample => StatusCode::CONFLICT,
            Self::Failed(_) => StatusCode::BAD_GATEWAY,
        }
    }
}

fn failed(error: &dyn std::error::Error) -> Refused {
    Refused::Failed(in_one_line(error))
}

/// What the buttons reach. Handles only: the stack ends when it is told to, whoever has the page open.
#[derive(Debug)]
pub(super) struct Deeds {
    timeline: Timeline,
    function: Function,
    trigger: Trigger,
    url: String,
    queue: Option<Queue>,
    invoker: Option<AsyncInvoker>,
    rules: Rules,
    records: Records,
    store: DynamoDbStore,
    client: reqwest::Client,
    sent: AtomicU64,
    armed: Arc<Mutex<Vec<Armed>>>,
}

/// What waits for a request of the function.
#[derive(Clone, Copy, Debug)]
struct Armed {
    /// Its own: the rule of one that is over is still asked, and must not take the next one for itself.
    number: u64,
    deed: &'static str,
    write: Write,
}

impl Deeds {
    pub(super) fn of(stack: &Stack, timeline: Timeline) -> Self {
        Self {
            timeline,
            function: stack.function().clone(),
            trigger: stack.trigger(),
            url: stack.url().to_owned(),
            queue: stack.queue().cloned(),
            invoker: stack.invoker().cloned(),
            rules: stack.proxy().rules(),
            records: stack.records(),
            store: DynamoDbStore::new(stack.dynamodb(), Stack::TABLE),
            client: reqwest::Client::new(),
            sent: AtomicU64::new(0),
            armed: Arc::default(),
        }
    }

    pub(super) const fn store(&self) -> &DynamoDbStore {
        &self.store
    }

    /// The function and what may be done to it.
    pub(super) fn state(&self) -> Value {
        let sandboxes = self.function.sandboxes();
        let sandboxes = sandboxes
            .iter()
            .map(|sandbox| json!({ "id": sandbox.id(), "pid": sandbox.pid(), "is_busy": sandbox.is_busy() }));
        let armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "function": self.function.config().name,
            "trigger": self.trigger.name(),
            "has_example": self.trigger != Trigger::Stream,
            "sandboxes": sandboxes.collect::<Vec<_>>(),
            "armed": armed.iter().map(|armed| format!("{}_{}", armed.deed, armed.write.name())).collect::<Vec<_>>(),
        })
    }

    /// Does what a button says, and says what was done.
    pub(super) async fn press(&self, press: Press) -> Result<String, Refused> {
        match press {
            Press::Example => self.example().await,
            Press::Duplicate { entry } => self.duplicate(entry),
            Press::Kill { sandbox } => self.kill(sandbox),
            Press::DropReply { write } => self.drop_reply(write),
            Press::KillAt { write } => self.kill_at(write),
            Press::EndLeases => self.end_leases().await,
        }
    }

    /// The example, made another one by a number in its key.
    async fn example(&self) -> Result<String, Refused> {
        let number = format!("{}-{}", SystemClock.now().get(), self.sent.fetch_add(1, Ordering::Relaxed));
        let ready_made = ReadyMade::find(&self.function.config().name);
        let body = ready_made.map_or("{}".to_owned(), |made| match made.example_key {
            "" => made.example.to_owned(),
            key => made.example.replace(key, &format!("{key}-{number}")),
        });
        match self.trigger {
            Trigger::Http => {
                let path = if ready_made.is_some() { "/charges" } else { "/" };
                let request = self.client.post(format!("{}{path}", self.url)).header("x-tenant-id", "tenant-7");
                let request = request.header("idempotency-key", format!("page-{number}"));
                // Its answer is on the timeline; the page does not wait for it.
                let request = request.header("content-type", "application/json").body(body);
                tokio::spawn(async move { drop(request.send().await) });
            }
            Trigger::Sqs => self.send([Message::new(body)], &number)?,
            Trigger::EventBridge => {
                let answer = self.client.post(format!("{}/events", self.url)).body(body).send().await;
                answer.and_then(reqwest::Response::error_for_status).map_err(|error| failed(&error))?;
            }
            Trigger::Async => {
                let event = json!({ "idempotencyKey": format!("page-{number}") }).to_string();
                self.invoke(event.into())?;
            }
            Trigger::Stream => return Err(Refused::NoExample),
        }
        Ok("Sent something new.".to_owned())
    }

    /// The very same event once more, by the way on which it is delivered twice on AWS.
    fn duplicate(&self, id: u64) -> Result<String, Refused> {
        let event = self.timeline.look(id, |invocation| invocation.event().cloned()).ok_or(Refused::NoEntry(id))?;
        let event = event.ok_or(Refused::NotKept)?;
        match self.trigger {
            Trigger::Http | Trigger::Stream => {
                let function = self.function.clone();
                // What comes of it is on the timeline.
                tokio::spawn(async move { drop(function.invoke(event).await) });
            }
            Trigger::Sqs => {
                let number = format!("{id}-{}", self.sent.fetch_add(1, Ordering::Relaxed));
                self.send(messages(&event), &number)?;
            }
            Trigger::EventBridge | Trigger::Async => self.invoke(event)?,
        }
        Ok(format!("Sent #{id} again."))
    }

    fn invoke(&self, event: Bytes) -> Result<(), Refused> {
        let invoker = self.invoker.as_ref().ok_or(Refused::NoExample)?;
        invoker.invoke(event).map(drop).map_err(|error| failed(&error))
    }

    /// In a FIFO queue another deduplication id makes it another message: the queue would drop one with the same.
    fn send(&self, messages: impl IntoIterator<Item = Message>, number: &str) -> Result<(), Refused> {
        let queue = self.queue.as_ref().ok_or(Refused::NoExample)?;
        let is_fifo = queue.config().is_ok_and(|config| config.is_fifo());
        for (place, message) in messages.into_iter().enumerate() {
            let message = match is_fifo {
                true => {
                    let group = message.group.clone().unwrap_or_else(|| "tenant-7".to_owned());
                    message.group(group).deduplication_id(format!("page-{number}-{place}"))
                }
                false => message,
            };
            queue.send(message).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    fn kill(&self, id: String) -> Result<String, Refused> {
        let sandboxes = self.function.sandboxes();
        let found = sandboxes.into_iter().find(|sandbox| sandbox.id() == id);
        let sandbox = found.ok_or_else(|| Refused::NoSandbox(id.clone()))?;
        let was = if sandbox.is_busy() { "busy" } else { "idle" };
        if !sandbox.kill() {
            return Err(Refused::NoSandbox(id));
        }
        let said = format!("Killed a sandbox that was {was} (process {}).", sandbox.pid());
        self.timeline.note(&said);
        Ok(said)
    }

    fn drop_reply(&self, write: Write) -> Result<String, Refused> {
        let timeline = self.timeline.clone();
        self.arm("drop_reply", write, Fault::DropAfter, move || {
            timeline.note(format!("The store did a {}, and its reply was lost.", write.name()));
        })?;
        Ok(format!("The reply to the next {} will be lost: send something.", write.name()))
    }

    fn kill_at(&self, write: Write) -> Result<String, Refused> {
        let (timeline, function) = (self.timeline.clone(), self.function.clone());
        self.arm("kill_at", write, Fault::DropBefore, move || {
            let killed = function.sandboxes().iter().filter(|sandbox| sandbox.is_busy() && sandbox.kill()).count();
            let who = if killed == 1 { "the busy sandbox".to_owned() } else { format!("{killed} busy sandboxes") };
            timeline.note(format!("Killed {who} at a {}, before the store had it.", write.name()));
        })?;
        Ok(format!("The sandbox will be killed at the next {}: send something.", write.name()))
    }

    /// Lets a fault happen to the next request of a kind. One of each at a time: a second would happen to the request after it.
    fn arm(
        &self,
        deed: &'static str,
        write: Write,
        fault: Fault,
        then: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), Refused> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        // Of two for one kind the first would happen, and both would be over.
        if armed.iter().any(|other| other.write == write) {
            return Err(Refused::Armed(write.name()));
        }
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        armed.push(Armed { number, deed, write });
        drop(armed);
        let waiting = Arc::clone(&self.armed);
        self.rules.inject(
            Rule::any()
                .when(move |request| {
                    if !write.is(request) {
                        return false;
                    }
                    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(place) = waiting.iter().position(|armed| armed.number == number) else { return false };
                    waiting.remove(place);
                    drop(waiting);
                    then();
                    true
                })
                .fault(fault),
        );
        Ok(())
    }

    async fn end_leases(&self) -> Result<String, Refused> {
        self.records.end_leases().await.map_err(|error| failed(&error))?;
        let said = "Ended every lease, as if their time had passed.";
        self.timeline.note(said);
        Ok(said.to_owned())
    }
}

/// The messages of an event of SQS, to be sent again.
fn messages(event: &[u8]) -> Vec<Message> {
    let event: Value = serde_json::from_slice(event).unwrap_or_default();
    let records = event.get("Records").and_then(Value::as_array);
    let message = |record: &Value| {
        let message = Message::new(record.get("body")?.as_str()?);
        let message = match record.pointer("/attributes/MessageGroupId").and_then(Value::as_str) {
            Some(group) => message.group(group),
            None => message,
        };
        let attributes = record.get("messageAttributes").and_then(Value::as_object).into_iter().flatten();
        let read = attributes.filter_map(|(name, value)| Some((name, message_attribute(value)?)));
        Some(read.fold(message, |message, (name, value)| message.attribute(name, value)))
    };
    records.into_iter().flatten().filter_map(message).collect()
}

fn message_attribute(attribute: &Value) -> Option<MessageAttribute> {
    let text = |name: &str| attribute.get(name).and_then(Value::as_str);
    let value = match text("binaryValue") {
        Some(base64) => {
            sqs::AttributeValue::Binary(base64::engine::general_purpose::STANDARD.decode(base64).ok()?.into())
        }
        None => sqs::AttributeValue::Text(text("stringValue")?.to_owned()),
    };
    MessageAttribute::new(text("dataType")?, value).ok()
}
