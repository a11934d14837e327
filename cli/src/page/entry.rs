//! One entry of the timeline.

use bytes::Bytes;
use idempotency_core::EpochMillis;
use idempotency_testkit::lambda::InvocationFailure;
use serde_json::{Value, json};

use super::{
    claim_line::ClaimLine,
    outcome::{About, Answered},
};
use crate::Trigger;

/// What is over this is not kept, and so can neither be shown nor sent again: 500 entries must fit into memory.
const KEPT_BYTES: usize = 256 * 1024;

/// One entry: an invocation, or what somebody did to the stack.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: u64,
    /// When it changed last, in the timeline's own count.
    pub(super) version: u64,
    pub(super) at: EpochMillis,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Invocation(Box<Invocation>),
    /// What somebody did, in words.
    Deed(String),
}

/// An invocation of the function.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) number: u64,
    pub(super) request_id: String,
    pub(super) trigger: Trigger,
    about: About,
    event: Option<Bytes>,
    claims: Vec<ClaimLine>,
    end: Option<End>,
}

#[derive(Debug)]
struct End {
    at: EpochMillis,
    said: String,
    outcome: Option<String>,
    answer: Option<String>,
}

impl Invocation {
    pub(super) fn new(number: u64, request_id: String, event: Bytes, trigger: Trigger) -> Self {
        let about = About::of(&serde_json::from_slice(&event).unwrap_or_default(), trigger);
        let event = (event.len() <= KEPT_BYTES).then_some(event);
        Self { number, request_id, trigger, about, event, claims: Vec::new(), end: None }
    }

    pub(super) fn claimed(&mut self, line: ClaimLine) {
        self.claims.push(line);
    }

    pub(super) fn ended(&mut self, result: Result<Bytes, InvocationFailure>, at: EpochMillis) {
        self.end = Some(match result {
            Ok(answer) => {
                let Answered { outcome, said } = Answered::read(&answer, self.trigger);
                let answer = (answer.len() <= KEPT_BYTES).then(|| String::from_utf8_lossy(&answer).into_owned());
                End { at, said, outcome, answer }
            }
            Err(failure) => {
                let (outcome, said) = (Some(failure.word.to_owned()), failure.word.to_owned());
                End { at, said, outcome, answer: Some(failure.message) }
            }
        });
    }

    /// The event, to be sent again.
    pub(super) fn event(&self) -> Option<&Bytes> {
        self.event.as_ref()
    }

    pub(super) fn answer(&self) -> Option<&str> {
        self.end.as_ref().and_then(|end| end.answer.as_deref())
    }

    /// The outcomes and how often each: one for HTTP, which the answer tells before the log does; one for each message else.
    fn outcomes(&self) -> Vec<(String, usize)> {
        let told = self.end.as_ref().and_then(|end| end.outcome.clone());
        let mut outcomes: Vec<(String, usize)> = Vec::new();
        let mut count = |word: &str| match outcomes.iter_mut().find(|(other, _)| other == word) {
            Some((_, count)) => *count += 1,
            None => outcomes.push((word.to_owned(), 1)),
        };
        if self.trigger == Trigger::Http {
            // After a look-up or a wait there are several lines; the last one is what the handler ran by.
            match (&self.end, told, self.claims.last()) {
                (None, _, _) => count("running"),
                (_, Some(told), _) => count(&told),
                (_, None, Some(claim)) => count(&claim.outcome),
                (_, None, None) => count("no claim"),
            }
            return outcomes;
        }
        self.claims.iter().for_each(|claim| count(&claim.outcome));
        match &self.end {
            None => count("running"),
            Some(_) => told.iter().for_each(|word| count(word)),
        }
        if outcomes.is_empty() {
            outcomes.push(("no claim".to_owned(), 1));
        }
        outcomes
    }
}

impl Entry {
    /// What the page shows. Neither the event nor the answer.
    pub(super) fn facts(&self) -> Value {
        let (id, at) = (self.id, self.at.get());
        match &self.kind {
            Kind::Deed(said) => json!({ "id": id, "at": at, "kind": "deed", "what": said }),
            Kind::Invocation(invocation) => {
                let outcomes = invocation.outcomes();
                let outcomes = outcomes.iter().map(|(word, count)| json!({ "word": word, "count": count }));
                let claims = invocation.claims.iter().map(
                    |claim| json!({ "operation": claim.operation, "outcome": claim.outcome, "attempt": claim.attempt }),
                );
                let took = invocation.end.as_ref().map(|end| end.at.saturating_since(self.at).as_millis());
                json!({
                    "id": id,
                    "at": at,
                    "kind": "invocation",
                    "what": invocation.about.what,
                    "key": invocation.about.key,
                    "request_id": invocation.request_id,
                    "outcomes": outcomes.collect::<Vec<_>>(),
                    "claims": claims.collect::<Vec<_>>(),
                    "said": invocation.end.as_ref().map(|end| &end.said),
                    "took_ms": took,
                    "can_repeat": invocation.event.is_some(),
                })
            }
        }
    }
}
