//! Asynchronous invocation: Lambda's own queue in front of a function.

mod config;
mod counts;
mod failed_event;
mod invoker;
mod next;

pub use config::AsyncConfig;
pub use counts::{AsyncCounts, AsyncTooLarge};
pub use invoker::AsyncInvoker;
