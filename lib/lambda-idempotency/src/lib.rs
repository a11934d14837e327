//! Effectively-once AWS Lambda functions.
//!
//! Clients retry, gateways retry, people double-click: a Lambda function sees the same request more than once. This crate
//! makes it act on it once. Put [`idempotent`] on a handler, say which [`Operation`] it is and whose keys it gets, and
//!
//! * the first request runs the handler and stores its response,
//! * the same request again gets that response, byte for byte, with `Idempotent-Replayed: true`,
//! * the same key with another request gets 422, a concurrent duplicate 409 with `Retry-After`,
//! * a request that cannot be protected (no key, no store) is refused, and the handler does not run.
//!
//! ```no_run
//! use lambda_idempotency::{Attempt, Idempotency, http::Json, idempotent};
//! use lambda_http::{Error, http::StatusCode, service_fn};
//! use serde_json::{Value, json};
//!
//! #[derive(serde::Deserialize)]
//! struct Order {
//!     item: String,
//! }
//!
//! #[idempotent(operation = "create-order", version = 1, scope = jwt_claim("sub"))]
//! async fn create_order(Json(order): Json<Order>, attempt: Attempt) -> Result<(StatusCode, Value), Error> {
//!     // The effect. Pass `attempt.key()` on to whatever honours idempotency keys.
//!     Ok((StatusCode::CREATED, json!({ "item": order.item, "key": attempt.key().as_str() })))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Error> {
//!     lambda_idempotency::init_logs();
//!     let idempotency = Idempotency::from_env().await?;
//!     lambda_http::run(service_fn(|request| create_order(&idempotency, request))).await
//! }
//! ```
//!
//! The function needs a table (`template.yaml` has one) and two environment variables: `IDEMPOTENCY_TABLE`, its name, and
//! `IDEMPOTENCY_NAMESPACE`, which keeps dev, stage and prod apart.
//!
//! Without [`init_logs`], or a subscriber of its own, a function says nothing about why it refuses requests.
//!
//! With a `key`, `#[idempotent]` goes on any other async function too, with typed arguments and a typed result: see [`function`].
//! With a trigger, such as `sqs`, it goes on a function of one message of a queue, stream or bus, and batches are taken care of: see
//! [`events`].
//!
//! What is promised about attempts that crash is the operation's choice: [`OnAbandoned`].
//!
//! | feature | what it adds |
//! |---|---|
//! | `client` | [`client`]: the caller's side, a layer of `reqwest-middleware` that keeps a key until a definite answer |
//! | `powertools` | [`migration::python_hash`] and [`migration::typescript_hash`], by which rows of Powertools for AWS Lambda are found |
//! | `sns` | [`propagation::WithKey`] for messages that the AWS SDK publishes to SNS |
//! | `sqs` | [`propagation::WithKey`] for messages that the AWS SDK sends to SQS, and `Idempotency::with_sqs`, by which messages in conflict come again when the lease is over |
//! | `uuid` | `uuid::Uuid` may be part of a derived key ([`KeyPart`]) |

#[cfg(feature = "client")]
pub mod client;
mod config;
mod deadline;
pub mod events;
pub mod function;
pub mod http;
mod logs;
pub mod metrics;
pub mod migration;
mod misfit;
mod mode;
mod outcome;
mod probed;
pub mod propagation;
mod undo;
mod without_key;

/// The types of events, for [`events`].
#[doc(no_inline)]
pub use aws_lambda_events;
pub use config::{ConfigError, Idempotency};
pub use deadline::lambda_deadline;
pub use idempotency_core::{
    Attempt, AttemptNumber, ClaimError, Epoch, EpochMillis, Fingerprint, IdempotencyKey, JsonPointer, JsonPointerError,
    KeyError, Namespace, OnAbandoned, Operation, Policy, Scope, Store, Window, WindowError,
};
/// What a handler of several effects uses; see [`Attempt`].
pub use idempotency_core::{
    AttributeValue, Event, EventError, EventId, Item, Refused, StageError, StepError, TableWrite, Undo, Undone,
};
#[doc(no_inline)]
pub use idempotency_core::{
    Clock, Engine, HomeRegion, MemoryStore, NamespaceError, NotHome, OperationError, ScopeError, Timeouts,
};
/// Keys and ids that are derived from what a request is about.
pub use idempotency_core::{
    ContentId, ContentIdBuilder, EncodedPart, KeyBuilder, KeyPart, KeyPartError, PartSlot, content_id, key,
};
pub use idempotency_dynamodb::{DynamoDbStore, client_from_env, sdk_config_from_env};
/// An HTTP handler's arguments are [`http::FromRequest`] (such as [`http::Json`]) and [`Attempt`], and its error implements
/// [`http::Classify`]; the macro's own are [`http::ScopeSource`], [`OnAbandoned`] and [`Window`]. A function's arguments are
/// [`function::Argument`]s and [`Attempt`], its value is [`function::Storable`], and its error implements [`function::Classify`]; the
/// macro's own are [`function::IntoKey`] and [`function::IntoScope`] too. A function of records takes one [`events::FromRecord`] and
/// [`Attempt`], its value is [`function::Storable`], and its error implements [`function::Classify`] and [`Display`](std::fmt::Display);
/// the macro's own are [`events::Source`], [`function::IntoKey`], [`function::IntoScope`] and [`events::OnPoison`].
pub use lambda_idempotency_macros::idempotent;
pub use logs::init_logs;
pub use mode::{Mode, ModeError};
pub use probed::{Probed, nobody_can_say as no_probe};
pub use undo::no_undo;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// The guide's snippets, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/http.md")]
struct HttpGuide;

/// README's handler, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The guide's functions of records, compiled.
#[cfg(all(doctest, feature = "sqs"))]
#[doc = include_str!("../../../docs/guide/events.md")]
struct GuideToEvents;

/// The guide of callers, compiled.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../../../docs/guide/client.md")]
struct GuideToCallers;

/// The guide's functions, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/functions.md")]
struct GuideToFunctions;

/// The guide to handlers of several effects, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/effects.md")]
struct GuideToEffects;

/// The guide to several regions, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/multi-region.md")]
struct GuideToRegions;

/// The guide of those who come from Powertools, compiled.
#[cfg(all(doctest, feature = "powertools"))]
#[doc = include_str!("../../../docs/guide/migrating-from-powertools.md")]
struct GuideFromPowertools;
