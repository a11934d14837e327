//! Goal: a function of records, as the attribute macro makes it, carries out each record once and answers for each batch what became
//! of its records.
//!
//! Method: functions over the memory store, called with events as Lambda delivers them. A lease's end is not waited for: the clock is
//! set past it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

#[path = "events/attempts.rs"]
mod attempts;
#[path = "events/failures.rs"]
mod failures;
#[path = "events/identity.rs"]
mod identity;
#[path = "events/messages.rs"]
mod messages;
#[path = "events/modes.rs"]
mod modes;
#[path = "events/order.rs"]
mod order;
#[path = "events/support.rs"]
mod support;
#[path = "events/timing.rs"]
mod timing;
#[path = "events/triggers.rs"]
mod triggers;
