//! The parts of the command `idempotency`, and the local stack that the end-to-end tests use too.

mod build;
pub mod cli;
mod demo;
mod error;
mod invoke;
mod local;
mod stack;

pub use error::CliError;
pub use stack::{DynamoDb, Stack, StackOptions};
