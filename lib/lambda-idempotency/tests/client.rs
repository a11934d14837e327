//! Goal: a caller keeps one key over all attempts of a request, takes nothing for an answer that is none, and stops when it should.
//!
//! Method: the layer before a callee that answers by a script and writes down what it was sent and when. Where only time matters, the
//! callee is a layer too and time stands still until everybody waits for it; where the wire matters, it is an HTTP server on loopback.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

#[path = "client/answers.rs"]
mod answers;
#[path = "client/keys.rs"]
mod keys;
#[path = "client/limits.rs"]
mod limits;
#[path = "client/policy.rs"]
mod policy;
#[path = "client/support.rs"]
mod support;
#[path = "client/waits.rs"]
mod waits;
#[path = "client/wire.rs"]
mod wire;
