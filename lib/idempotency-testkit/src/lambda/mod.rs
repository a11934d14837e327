//! A local Lambda: real function binaries, started as processes, invoked through the Runtime API.
//!
//! A [`Function`] is what Lambda calls one: a binary, an environment, a timeout and a concurrency
//! limit. [`Function::invoke`] takes an idle *sandbox* or starts a new one, up to the limit. A sandbox
//! is one process with a Runtime API endpoint of its own on the loopback interface ("Using the Lambda
//! runtime API for custom runtimes" in AWS's guide), so the host always knows which process is talking.
//! The binary is the one that is deployed; it cannot tell the difference.
//!
//! An [`AsyncInvoker`] is Lambda's own queue in front of a function: for events of EventBridge, S3, SNS and Scheduler, which come
//! without anybody who waits for the answer.
//!
//! Tests crash, freeze and outlive functions through [`Function::sandboxes`]:
//! [`Sandbox::kill`] in the middle of an invocation, [`Sandbox::pause`] and [`Sandbox::resume`] for
//! Lambda's freezing, and [`FunctionConfig::kill_at_deadline`]`(false)` for a process that goes on after
//! Lambda gave up on it.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use idempotency_testkit::function_binary;
//! use idempotency_testkit::lambda::{Function, FunctionConfig, InvokeError};
//!
//! let config = FunctionConfig::new("payments", function_binary("payments-api")?)
//!     .env("TABLE_NAME", "idempotency")
//!     .timeout(Duration::from_secs(3));
//! let function = Function::new(config)?;
//!
//! // One invocation is killed half-way; the next one gets a new process.
//! let invocation = tokio::spawn({
//!     let function = function.clone();
//!     async move { function.invoke("{}").await }
//! });
//! # tokio::task::yield_now().await;
//! for sandbox in function.sandboxes() {
//!     sandbox.kill();
//! }
//! assert!(matches!(invocation.await?, Err(InvokeError::Crashed { .. })));
//!
//! function.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod asynchronous;
mod config;
mod environment;
mod error;
mod exit;
mod function;
mod invocation;
mod logs;
mod observed;
mod process;
mod runtime_api;
mod sandbox;
mod supervisor;

pub use asynchronous::{AsyncConfig, AsyncCounts, AsyncInvoker, AsyncTooLarge};
pub use config::{FunctionConfig, Logs};
pub(crate) use environment::function_arn;
pub use error::{FunctionError, InvokeError};
pub use exit::Exit;
pub use function::Function;
pub(crate) use invocation::REQUEST_LIMIT;
pub use logs::LogLine;
pub use observed::{FunctionEvent, InvocationFailure};
pub use sandbox::Sandbox;
