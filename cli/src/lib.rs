//! The parts of the command `idempotency`, and the local stack that the end-to-end tests use too.

mod build;
pub mod cli;
mod client;
mod demo;
mod error;
mod faults;
mod invoke;
mod local;
mod records;
mod stack;
mod table;

pub use error::CliError;
pub use records::Records;
pub use stack::{DynamoDb, Stack, StackOptions};
