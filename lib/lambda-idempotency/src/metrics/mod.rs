//! What is counted and measured, and how CloudWatch gets it.
//!
//! In Lambda, [`Idempotency::from_env`](crate::Idempotency::from_env) sends these metrics to CloudWatch without a request and without a
//! permission: at the end of an invocation a line in the log holds them, in the embedded metric format ("Specification: Embedded metric
//! format", Amazon CloudWatch User Guide). They are in the CloudWatch namespace [`CLOUDWATCH_NAMESPACE`], once under the dimension
//! `Deployment` (the value of `IDEMPOTENCY_NAMESPACE`) and once under `Deployment` and `Operation` (the name, of all versions); each of
//! the two is a custom metric of its own on the bill, as far as there are values. `infra/alarms.yaml` has alarms on them.
//!
//! | environment variable | |
//! |---|---|
//! | `IDEMPOTENCY_METRICS` | `embedded` (default): as above. `off`: no line is written |
//!
//! Metrics are told to the facade of the crate [`metrics`](https://docs.rs/metrics): a function that has set a recorder of its own before,
//! such as one of OpenTelemetry, gets them there, and no line is written. A function that sets none finds its own metrics beside these.
//!
//! Nothing here fails a request: what cannot be written is lost. So is what an invocation has counted whose process dies.
//!
//! [`Metric`] lists them all.

mod embedded;
mod flush;
mod metric;
mod observer;

pub use embedded::{CLOUDWATCH_NAMESPACE, install, install_from_env};
pub use flush::flush;
pub use metric::{Metric, MetricKind};
pub use observer::StoreMetrics;

pub(crate) use {
    flush::FlushAtEnd,
    metric::{count, measure},
};
