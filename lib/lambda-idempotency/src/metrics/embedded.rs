//! The recorder that writes CloudWatch's embedded metric format.

use std::env;

use idempotency_core::Namespace;
use metrics::Unit;
use metrics_cloudwatch_embedded::Builder;

use super::{Metric, MetricKind, flush::set_collector};
use crate::config::{ConfigError, METRICS, choice};

/// The namespace of the metrics in CloudWatch.
pub const CLOUDWATCH_NAMESPACE: &str = "LambdaIdempotency";

/// The dimension with the deployment.
const DEPLOYMENT: &str = "Deployment";

/// Sets the process's recorder of metrics to one that writes them to the standard output, for CloudWatch, under the dimension
/// `Deployment`. Says whether it did: where a recorder is set already, or this is no Lambda function, nothing changes.
///
/// [`Idempotency::from_env`](crate::Idempotency::from_env) calls [`install_from_env`]. Call one of them in a function that has no such handle,
/// and [`flush`](super::flush()) at the end of each invocation.
pub fn install(deployment: &Namespace) -> bool {
    // Reserved for Lambda ("Defined runtime environment variables", AWS Lambda Developer Guide). Elsewhere nobody reads the lines.
    if env::var_os("AWS_LAMBDA_FUNCTION_NAME").is_none() {
        return false;
    }
    let builder = Builder::new()
        .cloudwatch_namespace(CLOUDWATCH_NAMESPACE)
        .with_dimension(DEPLOYMENT, deployment.as_str().to_owned());
    match builder.init() {
        Ok(collector) => {
            describe();
            set_collector(collector);
            true
        }
        Err(error) => {
            tracing::debug!(error, "metrics go to the recorder that is set already");
            false
        }
    }
}

/// As [`install`], unless the environment variable `IDEMPOTENCY_METRICS` says `off`.
///
/// # Errors
///
/// [`ConfigError::Metrics`] when it says something that means nothing.
pub fn install_from_env(deployment: &Namespace) -> Result<bool, ConfigError> {
    match choice(METRICS).as_deref() {
        None | Some("embedded") => Ok(install(deployment)),
        Some("off") => Ok(false),
        Some(other) => Err(ConfigError::Metrics(other.to_owned())),
    }
}

/// Tells the recorder of units.
fn describe() {
    for metric in Metric::ALL {
        let (name, description) = (metric.name(), metric.description());
        match metric.kind() {
            MetricKind::Count => metrics::describe_counter!(name, Unit::Count, description),
            MetricKind::Milliseconds => metrics::describe_histogram!(name, Unit::Milliseconds, description),
            MetricKind::Bytes => metrics::describe_histogram!(name, Unit::Bytes, description),
            MetricKind::Size => metrics::describe_histogram!(name, Unit::Count, description),
        }
    }
}
