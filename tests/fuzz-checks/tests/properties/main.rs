//! Goal: the checks of this crate hold for a slice of inputs in every `cargo test`; the long runs are `main.rs` and `/fuzz`.
//!
//! Method: proptest makes inputs for each check: any bytes, and inputs that are nearly right.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

mod canonical_json;
mod events;
mod key_header;
mod record_item;
mod records;
mod stored_result;
