//! Events as triggers send them, with something wrong: decoded, handled and answered as a deployed function does.
//!
//! For each event: nothing panics in this workspace; the event is refused when it is decoded, or its response is valid for its
//! trigger; the handler runs if and only if the event has exactly one valid key, a scope and a body that fits, or a method that
//! needs no key; the same event again has no second effect and the same answer; another body under the same key gets 422.
//!
//! Another trigger is another entry in [`Trigger::all`].

mod check;
mod counts;
mod expected;
mod function;
mod json;
mod mutate;
mod panics;
mod response;
mod trigger;

pub use check::{check, check_seed, check_text};
pub use counts::Counts;
pub use json::Json;
pub(crate) use mutate::{ODD, anywhere};
pub(crate) use panics::caught;
pub use trigger::Trigger;
