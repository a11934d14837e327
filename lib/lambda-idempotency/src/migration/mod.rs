//! From Powertools for AWS Lambda to this, function by function.
//!
//! A function that takes an old function's place does not have its memory: the old one kept rows of another form in another table. With a
//! [`Migration`] it looks at the old row before its handler runs, and acts on what it finds:
//!
//! | the old row | the request gets |
//! |---|---|
//! | is not there, or has expired | the handler runs |
//! | is completed | the old result, now and from then on |
//! | is in progress | a conflict, as for an attempt in flight |
//! | was in progress, and its function's time is over | what [`OnAbandoned`](crate::OnAbandoned) says of a lost attempt |
//! | has another validation hash | a mismatch |
//! | cannot be read | a refusal: the handler does not run |
//!
//! The old table is only read: by one request for each run of a handler, and none for replays. The
//! guide, `docs/guide/migrating-from-powertools.md`, says how to move, and what the limits are.
//!
//! ```
//! use lambda_idempotency::migration::{Migration, OldId, PowertoolsFlavour, PowertoolsTable};
//! # #[cfg(feature = "powertools")]
//! use lambda_idempotency::migration::python_hash;
//!
//! # async fn example() {
//! # #[cfg(feature = "powertools")] {
//! let client = lambda_idempotency::migration::client_from_env().await;
//! let old = PowertoolsTable::new(client, "OldIdempotencyTable", PowertoolsFlavour::JsonText);
//! let migration = Migration::new(old).http("create-order", |request| {
//!     // The old function had `event_key_jmespath = 'headers."Idempotency-Key"'`.
//!     let Some(key) = request.headers().get("idempotency-key") else { return Ok(None) };
//!     let hash = python_hash(&key.to_str()?.into())?;
//!     Ok(Some(OldId::new(format!("orders.app.lambda_handler#{hash}"))))
//! });
//! # }
//! # }
//! ```

mod bridge;
mod exact;
mod function_value;
#[cfg(feature = "powertools")]
mod hash;
mod http_response;
mod old_id;
mod registry;
mod verdict;

pub(crate) use bridge::{Old, bridge};
pub(crate) use function_value::outcome as function_outcome;
#[cfg(feature = "powertools")]
pub use hash::{HashError, python_hash, typescript_hash};
pub(crate) use http_response::outcome as http_outcome;
pub use idempotency_dynamodb::{
    PowertoolsAttribute, PowertoolsFlavour, PowertoolsRow, PowertoolsStatus, PowertoolsTable, client_from_env,
};
pub use old_id::{Asked, OldId};
pub use registry::Migration;
