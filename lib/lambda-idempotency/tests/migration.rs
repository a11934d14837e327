//! Goal: a function that takes the place of one with Powertools for AWS Lambda does not do again what that one did, is doing, or may have done.
//!
//! Method: rows that the real packages wrote (`migration/*-rows.json`, by `migration/generate.py` and `generate.mjs`) stand in a table of the
//! embedded engine, and a clock is set to moments of their lives. Requests to both tables are counted, in their order.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

#[path = "migration/functions.rs"]
mod functions;
#[path = "migration/hashes.rs"]
mod hashes;
#[path = "migration/requests.rs"]
mod requests;
#[path = "migration/support.rs"]
mod support;
