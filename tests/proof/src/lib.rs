//! The evidence for the protocol, in a form that a machine checks.
//!
//! [`model`] is an exhaustive search: a few attempts at one key, every order of their steps, every fault of the network and
//! the platform, over the *production* functions [`decide`](idempotency_core::decide) and
//! [`explain_end`](idempotency_core::explain_end). [`Mutant`] is the protocol with one guard removed; the search must find
//! each of them.
//!
//! [`simulation`] runs the real, asynchronous [`Engine`](idempotency_core::Engine) in simulated time, from a seed: many
//! duplicates, faulty stores, crashes, freezes and skewed clocks.

pub mod model;
mod mutant;
pub mod simulation;

pub use mutant::Mutant;
