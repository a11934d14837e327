//! Idempotent HTTP: API Gateway REST and HTTP APIs, load balancers and function URLs, through `lambda_http`.
//!
//! Three ways lead to the same contract: the attribute macro [`idempotent`](crate::idempotent), the tower layer
//! [`IdempotencyLayer`], and the function [`run()`] that both of them call.
//!
//! | outcome | response |
//! |---|---|
//! | fresh | the handler's response |
//! | replay | the stored response and `Idempotent-Replayed: true` |
//! | conflict: another attempt may be running | 409 and `Retry-After` |
//! | mismatch: the key was used with another request | 422 |
//! | no key, two keys, not a key | 400 |
//! | no scope for the caller | 403, or 400 when it is read from a header |
//! | uncertain: an attempt was lost ([`OnAbandoned::Reject`](crate::OnAbandoned::Reject)) | 500, type `outcome-unknown`, until resolved |
//! | the store gives no answer | 503 and `Retry-After`; the handler did not run |
//!
//! A replay has the status, headers and body of the first response, without what belongs to one delivery: `Date` and `Set-Cookie`
//! unless the operation allows them ([`ReplayHeader`]), `Content-Length` and hop-by-hop headers (RFC 9110 section 7.6.1). Repeated
//! headers are joined by commas, as HTTP APIs need it, all but `Set-Cookie`. (A load balancer without multi-value headers
//! delivers one cookie of several, in replays as in first responses.)
//! If a large body could not be stored, its replays have none and say so by `Idempotent-Body-Omitted: true`.
//!
//! Errors are `application/problem+json` (RFC 9457) and never show stored data.

mod answers;
mod extract;
mod failure;
mod fingerprint;
mod in_flight;
mod key_header;
mod layer;
mod operation;
mod problem;
mod replayed_headers;
mod reply;
mod retain;
mod run;
pub mod scope;
mod shadow;
mod status;
mod stored;
mod types;

pub use extract::{FromAttempt, FromRequest, Json, Rejection};
pub use failure::{Classify, Failure};
pub use in_flight::InFlight;
pub use key_header::{IDEMPOTENCY_KEY, KeyHeaderError, key_from_headers};
pub use layer::{IdempotencyLayer, IdempotencyService};
pub use operation::HttpOperation;
pub use problem::{Problem, ProblemType};
pub use replayed_headers::ReplayHeader;
pub use reply::Reply;
pub use retain::Retain;
pub use run::{run, run_with_probe};
pub use scope::ScopeSource;
pub use status::status;
pub use stored::{IDEMPOTENT_BODY_OMITTED, IDEMPOTENT_REPLAYED};
#[doc(hidden)]
pub use types::{Types, types};

pub use crate::Probed;
