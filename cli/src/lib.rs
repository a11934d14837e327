//! The parts of the command `idempotency`, and the local stack that the end-to-end tests use too.

mod build;
mod callees;
pub mod cli;
mod client;
mod demo;
mod entrance;
mod error;
mod faults;
mod guide;
mod invoke;
mod local;
mod operate;
mod own_table;
mod page;
mod queue_options;
mod ready_made;
mod records;
mod relay;
mod soak;
mod stack;
mod table;
mod trigger;

pub use error::CliError;
pub use operate::OperateError;
pub use own_table::OwnTable;
pub use queue_options::QueueOptions;
pub use records::Records;
pub use relay::{Relay, RelayOptions};
pub use stack::{DynamoDb, Stack, StackOptions};
pub use trigger::Trigger;
