//! Any async function, run once per key: inside a Lambda handler, an axum service or a worker.
//!
//! Two ways lead to the same contract: the attribute macro [`idempotent`](crate::idempotent) with a `key`, and the function
//! [`run()`] that it calls.
//!
//! ```
//! use lambda_idempotency::{Attempt, Idempotency, MemoryStore, Namespace, idempotent};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Serialize)]
//! struct Invoice {
//!     tenant: String,
//!     id: u64,
//!     cents: u64,
//! }
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Sent {
//!     message_id: String,
//! }
//!
//! # struct Mailer; impl Mailer { async fn send(&self, _: &Invoice, _: &str) -> Result<String, std::io::Error> { Ok("m-1".into()) } }
//! #[idempotent(operation = "send-invoice", version = 1, scope = tenant(&invoice.tenant), key = [invoice.id])]
//! async fn send_invoice(mailer: &Mailer, invoice: Invoice, attempt: Attempt) -> Result<Sent, Box<dyn std::error::Error + Send + Sync>> {
//!     // The effect. Pass `attempt.key()` on to whatever honours idempotency keys.
//!     Ok(Sent { message_id: mailer.send(&invoice, attempt.key().as_str()).await? })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! // `Idempotency::from_env()` where it is deployed.
//! let idempotency = Idempotency::new(MemoryStore::default(), Namespace::new("test")?);
//! let invoice = Invoice { tenant: "tenant-7".into(), id: 42, cents: 1200 };
//!
//! let first = send_invoice(&idempotency, &Mailer, invoice.clone()).await?;
//! let again = send_invoice(&idempotency, &Mailer, invoice).await?;
//! assert_eq!((first.replayed, again.replayed), (false, true));
//! assert_eq!(first.value, again.value);
//! # Ok(()) }
//! ```
//!
//! | outcome | what the caller gets |
//! |---|---|
//! | fresh | [`Done`] with the function's value, as it was stored |
//! | replay | [`Done`] with the same value, `replayed: true` |
//! | conflict: another attempt may be running | [`Error::Conflict`] |
//! | mismatch: the key was used with other arguments | [`Error::Mismatch`] |
//! | no key, or no scope | [`Error::Key`], [`Error::Scope`] |
//! | failed, and the function's error says that nothing happened | [`Error::Retryable`]; the next call runs at once |
//! | failed for good, by the function's error | [`Error::Failed`], the same on every call |
//! | failed, and the function's error does not say | [`Error::Abandoned`]; then as after a lost attempt |
//! | uncertain: an attempt was lost ([`OnAbandoned::Reject`](crate::OnAbandoned::Reject)) | [`Error::Uncertain`], until resolved |
//! | the store gives no answer | [`Error::NotProtected`]; the function did not run |
//!
//! # What makes a call the same call
//!
//! The *key* finds the record, together with namespace, operation, version and scope. The *arguments* are hashed, as a JSON object
//! with a member per argument ([`Call::argument`]): the same key with other arguments is a mismatch. Both are computed once, before
//! the function runs, so a function that changes its arguments changes nothing. Only the hash of the arguments is stored.
//!
//! # How long an attempt may run
//!
//! Another attempt may start when the *lease* of the one before is over, 3 seconds after its deadline. Lambda ends an invocation
//! at its deadline; give it to the call ([`Call::deadline`], the macro's `deadline = lambda_deadline(&context)`). Without
//! one, the deadline is the time of the call and the window's [longest run](crate::Window::longest_run), which is 15 minutes unless you
//! say otherwise. **Nothing outside Lambda ends an attempt then**: one that runs longer may meet a second one that was started beside
//! it. So choose a longest run that no attempt exceeds, or end attempts yourself, such as by
//! `tokio::time::timeout(attempt.remaining(), …)` around the effect.

mod argument;
mod call;
mod done;
mod error;
mod failed;
mod failure;
mod fingerprint;
mod finish;
mod into_key;
mod into_scope;
mod operation;
mod run;
mod shadow;
mod stored;
mod types;
mod unprotected;

pub use argument::Argument;
pub use call::Call;
pub use done::Done;
pub use error::{BoxError, Error};
pub use failed::Failed;
pub use failure::{Classify, Failure};
pub use into_key::{IntoKey, InvalidKey};
pub use into_scope::IntoScope;
pub use operation::FunctionOperation;
#[doc(hidden)]
pub use run::carry_out;
pub use run::{run, run_with};
pub(crate) use stored::stored_json;
pub use stored::{Storable, StoredOutcome, read_stored, stored_failure, stored_value};
#[doc(hidden)]
pub use types::{Types, types};
