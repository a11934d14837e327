//! The outbox: events that are staged with an effect, stored beside its record, and sent afterwards by a relay.
//!
//! The types only. What is stored is an [`OutboxEntry`]; what a handler publishes is an [`Event`].

mod entry;
mod event;
mod event_id;

pub use entry::OutboxEntry;
pub use event::{Destination, Event, EventError};
pub use event_id::EventId;
