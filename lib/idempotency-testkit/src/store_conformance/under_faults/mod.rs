//! The same contract when requests are refused, lost, repeated and late.
//!
//! The reference holds every state that may be stored: a write without a reply is applied or not, and one that is late is
//! applied at any moment until it has landed.

mod batch;
mod check;
mod fault;
mod machine;
mod parts;
mod records;
mod run;
mod told;

pub use check::check_under_faults;
