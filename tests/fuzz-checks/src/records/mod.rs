//! Events of queues, streams and buses, with something wrong: decoded as the runtime does, run through
//! [`events::run`](lambda_idempotency::events::run()), and delivered a second time.
//!
//! For each event: nothing panics in this workspace, though handlers do; every record that is not done is reported, each as its
//! source is told, by an identifier that is in the event and not empty, and no record else; a record that is not reported has run to
//! its end once, now or before; a handler runs at most once for each key unless it said that nothing happened, and never for a
//! record that has no key or cannot be read; behind the first record of a group that is not done nothing runs; the second delivery
//! runs nothing that was done.
//!
//! What must become of each record is computed from the decoded event (`known`, `predict`), without the code under test. Another
//! source is another entry in [`RecordTrigger::all`] and another implementation of `known::Known`.

mod answer;
mod check;
mod counts;
mod deliver;
mod known;
mod mutate;
mod predict;
mod samples;
mod trigger;

pub use check::{check, check_seed, check_text};
pub use counts::Counts;
pub use trigger::RecordTrigger;
