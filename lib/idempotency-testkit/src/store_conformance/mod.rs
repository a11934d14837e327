//! Does a store keep the contract of [`idempotency_core::Store`]? For whoever writes one. (Feature `store-conformance`.)
//!
//! ```
//! use idempotency_core::MemoryStore;
//! use idempotency_testkit::store_conformance::{Config, check};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let report = check(MemoryStore::default(), &Config::default()).await?;
//!
//! // It tried something: for example, callers met their own records after a repetition.
//! assert_eq!(report.sequences, 18 + 64);
//! assert!(report.answers["own record exists"] > 0);
//! # Ok(())
//! # }
//! ```
//!
//! [`check`] makes five kinds of calls:
//!
//! - **Sequences.** Generated calls on a few keys: inserts; replaces of the right version, and of one that differs in owner,
//!   status or epoch; parts, with the right and with another owner, too many and none. The records have every status, results
//!   inline and in parts, and the ends of what each field can hold. Every answer must be that of a plain map, with every field
//!   of the old record. A failing sequence is made as short as possible and printed.
//! - **Batches** among them, of none to more members than a DynamoDB request carries, a key once or several times: each member has an
//!   answer in its place, such as the single calls side by side could have, and then that is stored.
//! - **Repetitions.** A call that was applied, once more: the caller must recognise its own record.
//! - **Races.** Many callers at once insert one key, or replace one version: exactly one wins and all others are shown its
//!   record; the same for many batches of the same keys. Many callers raise numbers on several keys: no change is lost.
//! - **Rows and commits**, one named check for each sentence of their contract ([`Report::checks`]), with races of their own.
//!
//! The store must answer: a call that fails is a failure of the check, whatever the error.
//!
//! [`check_effects`] looks at what commits beside a record, in a table of the caller's.
//!
//! [`check_under_faults`] is for stores on DynamoDB. It loses, refuses, repeats and delays their requests by a
//! [`FaultProxy`](crate::fault_proxy::FaultProxy), with a reference that holds every state that may be stored then.

mod batch;
mod batch_check;
mod batch_values;
mod call;
mod check;
mod commits;
mod config;
mod counters;
mod effects;
mod expect;
mod failure;
mod keys;
mod machine;
mod plain;
mod races;
mod reference;
mod repetition;
mod report;
mod rows;
mod search;
mod sequence;
mod show;
mod under_faults;
mod values;

pub use check::check;
pub use config::Config;
pub use counters::Counters;
pub use effects::check_effects;
pub use failure::{FailedCall, FailedSequence, Nonconformance};
pub use report::Report;
pub use under_faults::check_under_faults;
