//! Goal: a function with a key runs once per key, and its caller is told the same for the first call and for every duplicate.
//!
//! Method: functions over the memory store, called as a worker or a service would call them. A lease's end is not waited for: the
//! clock is set past it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

#[path = "functions/callers.rs"]
mod callers;
#[path = "functions/failures.rs"]
mod failures;
#[path = "functions/identity.rs"]
mod identity;
#[path = "functions/modes.rs"]
mod modes;
#[path = "functions/store.rs"]
mod store;
#[path = "functions/support.rs"]
mod support;
#[path = "functions/timing.rs"]
mod timing;
#[path = "functions/values.rs"]
mod values;
