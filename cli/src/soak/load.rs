//! What is sent.

use std::collections::BTreeMap;

use fastrand::Rng;
use idempotency_testkit::sqs::Message;
use serde_json::json;

use crate::cli::Soak;

/// The most characters of a chunk, as claims-intake splits documents.
const CHUNK: usize = 1000;

/// Claims, and the messages that say them: some more than once.
pub(super) struct Load {
    /// How many chunks each claim has.
    claims: BTreeMap<String, usize>,
    messages: Vec<Message>,
}

impl Load {
    pub(super) fn new(arguments: &Soak) -> Self {
        let mut random = Rng::with_seed(arguments.seed);
        let duplicates = arguments.messages * usize::from(arguments.duplicates) / 100;
        let claims: BTreeMap<_, _> =
            (0..arguments.messages - duplicates).map(|n| (format!("CLM-{n:06}"), random.usize(1..=3))).collect();
        let mut messages: Vec<_> = claims.iter().map(|(claim, chunks)| message(claim, *chunks)).collect();
        for _ in 0..duplicates {
            let again = random.choice(&messages).cloned();
            messages.extend(again);
        }
        random.shuffle(&mut messages);
        Self { claims, messages }
    }

    pub(super) const fn claims(&self) -> &BTreeMap<String, usize> {
        &self.claims
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The text of a claim's chunk.
    pub(super) fn text(claim: &str, index: usize) -> String {
        claim.chars().cycle().skip(index).filter(char::is_ascii_alphanumeric).take(CHUNK).collect()
    }
}

fn message(claim: &str, chunks: usize) -> Message {
    let document: String = (0..chunks).map(|index| Load::text(claim, index)).collect();
    Message::new(json!({ "tenant": "tenant-7", "claim_id": claim, "document": document }).to_string())
}
