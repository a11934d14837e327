//! The idempotency protocol, without AWS.
//!
//! One question is answered for every request: *have we seen this before?* This crate owns the types that
//! the question is made of ([`IdempotencyKey`], [`Operation`], [`Scope`], [`Fingerprint`], [`Window`],
//! [`Record`]), the one pure function that answers it ([`decide`]), the [`Store`] contract, and the
//! [`Engine`] that drives both around a side effect.
//!
//! ```
//! use std::time::Duration;
//! use idempotency_core::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(MemoryStore::default());
//! let operation = Operation::new("charge", 1)?;
//! let request = Request {
//!     namespace: Namespace::new("dev")?,
//!     operation: operation.clone(),
//!     scope: Scope::tenant("tenant-7")?,
//!     key: IdempotencyKey::new("8f1e0c1e-order-42")?,
//!     fingerprint: Fingerprint::builder().json("body", br#"{"amount": 1200}"#).finish(),
//!     deadline: engine.now() + Duration::from_secs(10),
//! };
//! let policy = Policy::new(Window::http());
//!
//! let Claimed::Fresh(claim) = engine.claim(&request, &policy).await? else { unreachable!() };
//! // … the effect happens here, with `claim.attempt().key()` passed on unchanged …
//! engine.complete(claim, Outcome::new("charged")).await;
//!
//! let Claimed::Replay(replay) = engine.claim(&request, &policy).await? else { unreachable!() };
//! assert_eq!(replay.body(), Some(&b"charged"[..]));
//! # Ok(()) }
//! ```
//!
//! | feature | what it adds |
//! |---|---|
//! | `uuid` | `uuid::Uuid` may be part of a derived key ([`KeyPart`]) |

mod attempt;
mod batched;
mod canonical_json;
mod claim;
mod clock;
mod codec;
mod content_id;
mod decide;
mod derived_key;
mod end;
mod engine;
mod fingerprint;
mod hash;
mod home_region;
mod json_pointer;
mod key;
mod key_part;
mod memory;
mod namespace;
mod operation;
mod outbox;
mod policy;
mod record;
mod record_key;
mod refused;
mod resolution;
mod result;
mod row;
mod scope;
mod staged;
mod store;
mod table_write;
mod telemetry;
mod time;
mod token;
mod window;

pub use attempt::{Attempt, StepError, Undo, Undone};
pub use batched::{Batched, Flow};
pub use canonical_json::{CanonicalJsonError, canonical_json};
pub use claim::{Abandoned, Claim};
pub use clock::{Clock, SystemClock};
pub use codec::CodecError;
pub use content_id::{ContentId, ContentIdBuilder};
pub use decide::{ClaimRequest, Decision, decide};
pub use derived_key::KeyBuilder;
pub use end::{EndConflict, explain_end};
pub use engine::{
    Applied, ClaimError, Claimed, Compensated, Completion, Engine, LookedUp, Outcome, Refusal, Replay, Request,
    Timeouts,
};
pub use fingerprint::{Fingerprint, FingerprintBuilder};
pub use home_region::{HomeRegion, NotHome};
pub use json_pointer::{JsonPointer, JsonPointerError};
pub use key::{IdempotencyKey, KeyError};
pub use key_part::{EncodedPart, KeyPart, KeyPartError, PartSlot};
pub use memory::MemoryStore;
pub use namespace::{Namespace, NamespaceError};
pub use operation::{Operation, OperationError};
pub use outbox::{Destination, Event, EventError, EventId, OutboxEntry};
pub use policy::{OnAbandoned, Policy};
pub use record::{AttemptNumber, Epoch, Record, RecordError, SCHEMA, Status};
pub use record_key::RecordKey;
pub use refused::Refused;
pub use resolution::{Resolution, Unresolvable, removable};
pub use result::{Parts, StoredResult};
pub use row::{Row, RowInserted, RowKind};
pub use scope::{Scope, ScopeError};
/// Items and values of DynamoDB, whatever client carries them.
pub use serde_dynamo::{AttributeValue, Item};
pub use staged::Effect;
pub use store::{Committed, Inserted, Replaced, Store, StoreError, Version, Write, Written};
pub use table_write::{StageError, TableWrite, TableWriteKind};
pub use time::{EpochMillis, EpochSeconds};
pub use token::{ExecutionId, OwnerToken, RandomTokens, TokenError, TokenSource};
pub use window::{Window, WindowError};
