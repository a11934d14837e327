//! When the platform ends an attempt.

use idempotency_core::EpochMillis;
use lambda_http::Context;

/// When Lambda ends this invocation, as its context says: the deadline for a [`Call`](crate::function::Call) or the macro's
/// `deadline` inside a Lambda function. (`lambda_http::Context` is `lambda_runtime::Context`.)
pub fn lambda_deadline(context: &Context) -> EpochMillis {
    EpochMillis::new(i64::try_from(context.deadline).unwrap_or(i64::MAX))
}
