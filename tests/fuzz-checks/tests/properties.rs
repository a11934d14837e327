//! Goal: the checks of this crate hold for a slice of inputs in every `cargo test`; the long runs are `main.rs` and `/fuzz`.
//!
//! Method: proptest makes inputs for each check: any bytes, and inputs that are nearly right.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

#[path = "properties/canonical_json.rs"]
mod canonical_json;
#[path = "properties/events.rs"]
mod events;
#[path = "properties/key_header.rs"]
mod key_header;
#[path = "properties/record_item.rs"]
mod record_item;
#[path = "properties/stored_result.rs"]
mod stored_result;
