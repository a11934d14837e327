//! The caller's side: requests that keep their key until a definite answer (crate feature `client`).
//!
//! A callee that recognises repetitions is half of it. The other half is a caller that repeats the *same* request: one key per request, made
//! before the first attempt, kept over every repetition, and given up only for an answer that will not change. [`Idempotent`] is a layer
//! for [`reqwest_middleware`] that does this.
//!
//! ```
//! use lambda_idempotency::client::{ClientError, Idempotent, Resolved, reqwest, reqwest_middleware};
//!
//! async fn charge(http: reqwest::Client, order: String) -> Result<String, reqwest_middleware::Error> {
//!     // One layer per callee, made once; it is cheap to clone.
//!     let client = reqwest_middleware::ClientBuilder::new(http).with(Idempotent::default()).build();
//!
//!     // Each `send` is a request of its own, with a key of its own.
//!     match client.post("https://payments.example/charges").body(order).send().await {
//!         // Definite: 201, or 402 for a declined card. A 409 is here only if it is the callee's stored answer.
//!         Ok(response) => {
//!             println!("answered after {:?} attempts", Resolved::of(&response).map(Resolved::attempts));
//!             Ok(response.text().await?)
//!         }
//!         Err(error) => {
//!             if let Some(ClientError::Unresolved(unresolved)) = ClientError::of(&error) {
//!                 // It may have been carried out. Keep the key, and go on with it later.
//!                 println!("to be continued under {}", unresolved.key().as_str());
//!             }
//!             Err(error)
//!         }
//!     }
//! }
//! ```
//!
//! # Which requests
//!
//! | request | what is done |
//! |---|---|
//! | `POST`, `PATCH` ([`RetryPolicy::methods`]) | gets a key, a UUIDv7 ([`mint_key`]), and is repeated with it |
//! | any with an `Idempotency-Key`, such as [`propagation::http_header`](crate::propagation::http_header) of `attempt.key()` | keeps that key, as it is written; one that cannot be used is an error before anything is sent |
//! | idempotent by its method's definition (RFC 9110 section 9.2.2) | is repeated without a key while the answer is transient; the last answer is handed on |
//! | any other | is sent once |
//! | needs a key, and its body is a stream | is an error before anything is sent, because it could not be repeated |
//!
//! # What an answer means for a request with a key
//!
//! | answer | what is done |
//! |---|---|
//! | any with `Idempotent-Replayed: true` | is the answer: it is stored, and stays |
//! | 2xx, 3xx, 4xx, 501, 505, except as below | is the answer |
//! | 202 `{"status":"in_flight"}` with `Retry-After` | in flight: repeated |
//! | 409 of type `conflict` | in flight: repeated |
//! | any other 409 | may be in flight: repeated, until it is a replay ([`OtherConflict`]) |
//! | 422 of type `mismatch` | [`ClientError::Mismatch`]: a mistake, never repeated |
//! | 500 of type `outcome-unknown` | [`ClientError::OutcomeUnknown`], never repeated; with `Retry-After` it is asked again |
//! | 500 of type `result-unreadable` | [`ClientError::ResultUnreadable`], never repeated |
//! | 500 of type `compensation-stuck` | [`ClientError::CompensationStuck`], never repeated |
//! | 500 of type `commit-refused` | is the answer: nothing of what was staged is written, nor would be |
//! | 408, 425, 429, any other 5xx, such as 503 of type `not-committed` or `undoing` | transient: repeated |
//! | none, half of one, none in time | nobody knows: repeated |
//!
//! A repetition waits as long as `Retry-After` says (seconds or a date), and a random part of an exponential backoff on top (full jitter).
//! It is the same request, byte for byte. What ends the repetitions is [`Stopped`]: the number of attempts, the horizon (also if
//! `Retry-After` lies beyond it, at once), a [`RetryBudget`] and a [`CircuitBreaker`] that all requests to the callee share. Then the
//! caller gets [`ClientError::Unresolved`] and the key.
//!
//! The answer's body is read as a part of the attempt and is in memory when the response is handed on, because a connection that breaks in
//! the middle of it leaves no answer. This is so for requests with a key only.
//!
//! # What stays yours
//!
//! * A key lives as long as the future that sends. To go on after a crash, [mint](mint_key) the key and store it before you send.
//! * `reqwest` follows redirects: 307 and 308 repeat the request with its key at another place, 301 to 303 ask there by `GET`. Turn them
//!   off (`reqwest::redirect::Policy::none()`) for a callee that sends none.
//! * The callee must honour keys. Say [`RetryPolicy::attempts`]`(1)` for one that does not.

mod attempt;
mod call;
mod circuit_breaker;
mod client_error;
mod idempotent;
mod kind;
mod meaning;
mod mint;
mod other_conflict;
mod pace;
mod problem;
mod resolved;
mod retry_after;
mod retry_budget;
mod retry_policy;
mod retry_policy_error;
mod step;
mod unresolved;

pub use circuit_breaker::CircuitBreaker;
pub use client_error::ClientError;
pub use idempotent::Idempotent;
pub use mint::mint_key;
pub use other_conflict::OtherConflict;
pub use resolved::Resolved;
pub use retry_budget::RetryBudget;
pub use retry_policy::RetryPolicy;
pub use retry_policy_error::RetryPolicyError;
pub use unresolved::{LastAnswer, Stopped, Unresolved};
/// The crates whose types stand in this module's signatures.
#[doc(no_inline)]
pub use {reqwest, reqwest_middleware};
