//! What holds for any input.
//!
//! Each module has a `check` that takes an input and panics when something does not hold. Property tests (`tests/`), the long
//! run over mutated events (`main.rs`) and the fuzz targets (`/fuzz`) only differ in where their inputs come from.
//!
//! Where a check compares with an expectation, the expectation is computed here, from the input, without the code under test.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a check that does not hold panics")]

pub mod canonical_json;
mod choices;
pub mod events;
pub mod key_header;
pub mod record_item;
pub mod records;
pub mod stored_result;

pub use choices::Choices;
