//! What a single call must answer, outside of a sequence.

use std::fmt::Debug;
use std::future::Future;

use idempotency_core::StoreError;

use super::failure::{FailedCall, Nonconformance, chain};
use super::report::Report;

/// How much of an answer is shown: rows and records may be large.
const SHOWN: usize = 600;

/// Runs a named check, and notes that it held.
pub(super) async fn named(
    check: &'static str,
    run: impl Future<Output = Result<(), FailedCall>>,
    report: &mut Report,
) -> Result<(), Nonconformance> {
    run.await.map_err(|failure| Nonconformance::Check { check, failure })?;
    report.checks.push(check);
    Ok(())
}

/// The call must answer this.
pub(super) fn expect<T: PartialEq + Debug>(
    call: &str,
    answered: Result<T, StoreError>,
    expected: &T,
) -> Result<(), FailedCall> {
    match answered {
        Ok(answer) if answer == *expected => Ok(()),
        Ok(other) => Err(failed(call, &format!("{expected:?}"), &format!("{other:?}"))),
        Err(error) => Err(failed(call, &format!("{expected:?}"), &chain(&error))),
    }
}

/// The call must give an answer.
pub(super) fn answered<T>(call: &str, answered: Result<T, StoreError>) -> Result<T, FailedCall> {
    answered.map_err(|error| failed(call, "an answer", &chain(&error)))
}

pub(super) fn failed(call: &str, expected: &str, answered: &str) -> FailedCall {
    let cut = |text: &str| text.chars().take(SHOWN).collect();
    FailedCall { call: cut(call), expected: cut(expected), answered: cut(answered) }
}
