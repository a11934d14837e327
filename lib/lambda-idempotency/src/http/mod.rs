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
//! Errors are `application/problem+json` (RFC 9457) and never show stored data. An error that the handler returns and that
//! does not say what it means is not a response: HTTP APIs answer it with 500, the other kinds with 502.
//!
//! # What gets lost before or after this crate
//!
//! Each kind of event, and `lambda_http` with it, has limits that a handler cannot see and this crate cannot mend:
//!
//! | kind | what is lost |
//! |---|---|
//! | REST API | of a repeated request header, all values but the last, the `Idempotency-Key` included: `lambda_http` puts the single-value map over the other. A binary response is decoded only for clients whose `Accept` begins with one of the API's binary media types. |
//! | load balancer | of a repeated request header or query parameter, all values but the last; of several `Set-Cookie`, all but the first. Multi-value headers, a setting of the target group, let all of them through. |
//! | HTTP API | how a path was encoded: `/a%2Fb` and `/a/b` arrive as one, and so are one route. What follows a `%3F` is cut off. |
//!
//! A lost value takes no part in the fingerprint, which covers what the handler sees. Where all of two `Idempotency-Key` headers
//! arrive, they are refused.

mod answers;
mod extract;
mod failure;
mod fingerprint;
mod finish;
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
mod unprotected;

pub use extract::{FromAttempt, FromRequest, Json, Rejection};
pub use failure::{Classify, Failure};
pub use in_flight::InFlight;
pub use key_header::{IDEMPOTENCY_KEY, KeyHeaderError, key_from_headers};
pub use layer::{IdempotencyLayer, IdempotencyService};
pub use operation::HttpOperation;
pub use problem::{Problem, ProblemType};
pub use replayed_headers::ReplayHeader;
pub(crate) use replayed_headers::ReplayedHeaders;
pub use reply::Reply;
pub use retain::Retain;
#[doc(hidden)]
pub use run::carry_out;
pub use run::{no_probe, run, run_with};
pub use scope::ScopeSource;
pub use status::status;
pub(crate) use stored::StoredResponse;
pub use stored::{IDEMPOTENT_BODY_OMITTED, IDEMPOTENT_REPLAYED, read_stored, stored_response};
#[doc(hidden)]
pub use types::{Types, types};

pub use crate::Probed;
