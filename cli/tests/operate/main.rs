//! Goal: operator commands find, explain and repair what real attempts have left, change nothing but what they say, and end with the exit
//! codes that their help promises: each with an input that it must refuse.
//!
//! Method: records made by the engine and the wrappers on the embedded engine; the binary as an operator runs it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

mod doctor;
mod estimate;
mod evict;
mod inspect;
mod list;
mod resolve;
mod watch;
mod world;
