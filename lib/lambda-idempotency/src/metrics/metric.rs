//! The metrics, by name.

use idempotency_core::Operation;

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A number of times, to be summed.
    Count,
    /// Milliseconds of each.
    Milliseconds,
    /// Bytes of each.
    Bytes,
    /// A number of things of each.
    Size,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ident,)+) => {
        /// A metric. Its name in CloudWatch is that of the variant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Metric {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Metric {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The name in CloudWatch.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// What it is.
            pub const fn kind(self) -> MetricKind {
                match self {
                    $(Self::$name => MetricKind::$kind,)+
                }
            }

            /// What it means, in one sentence or more.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+),)+
                }
            }
        }
    };
}

metrics! {
    /// A request, message or call that has a usable key: what the others are parts of.
    Requests: Count,
    /// The operation ran, for the first time or again after an attempt that was lost or failed.
    Fresh: Count,
    /// The result of an earlier attempt was the answer: the stored one, or the one that a probe found.
    Replay: Count,
    /// Another attempt may be running.
    Conflict: Count,
    /// The key was used with another request: a fault of the caller.
    Mismatch: Count,
    /// The request has no usable key, or does not say whose key it uses.
    InvalidKey: Count,
    /// An attempt was lost and nobody knows whether its effect happened.
    Uncertain: Count,
    /// The operation failed for good, and the failure is stored.
    Failed: Count,
    /// The operation failed and said that nothing happened, or its response was not to be kept: the next attempt may run at once.
    Released: Count,
    /// The operation failed and did not say what that means: its key is busy until the lease is over.
    Abandoned: Count,
    /// The request could not be protected, so nothing ran: the store gave no usable answer, or a stored result cannot be read.
    StoreUnavailable: Count,
    /// The request's key is claimed in another region, so nothing ran.
    Misdirected: Count,
    /// A lost attempt's key was taken over when its lease was over. Counted beside `Fresh`.
    Takeover: Count,
    /// Another attempt had taken the key over before this one ended: the operation may have run twice.
    Superseded: Count,
    /// The operation took effect, and that is not known to be stored: the store did not answer at its end, or the record had been deleted.
    CompletionUnconfirmed: Count,
    /// Nobody knows whether staged writes were committed: the caller was told to repeat the request.
    Uncommitted: Count,
    /// The store refused for good what was staged, so nothing of it was written: a fault of the code or of its permissions.
    CommitRefused: Count,
    /// The operation failed for good and is not undone yet: the next request with its key goes on.
    CompensationPending: Count,
    /// The operation failed for good, and something that it did before could not be undone: an operator must act.
    CompensationStuck: Count,
    /// What a failed operation did before stays done, and no record says so: it ran without protection, its record was deleted, or a call
    /// came after its operation was undone.
    CompensationLost: Count,
    /// The operation ran without protection: mode `off`, or what mode `shadow` would have held back.
    Unprotected: Count,
    /// From a request to DynamoDB to its answer, the SDK's own repetitions included.
    StoreLatency: Milliseconds,
    /// The size of a record that was written, as DynamoDB counts it, without the parts of a large result.
    RecordBytes: Bytes,
    /// The records of an event.
    BatchSize: Size,
}

/// Counts one.
pub(crate) fn count(operation: &Operation, metric: Metric) {
    metrics::counter!(metric.name()).increment(1);
    metrics::counter!(metric.name(), OPERATION => operation.name().to_owned()).increment(1);
}

/// Keeps one value.
pub(crate) fn measure(operation: Option<&str>, metric: Metric, value: f64) {
    super::flush::make_room(if operation.is_some() { 2 } else { 1 });
    metrics::histogram!(metric.name()).record(value);
    if let Some(operation) = operation {
        metrics::histogram!(metric.name(), OPERATION => operation.to_owned()).record(value);
    }
}

/// The dimension.
const OPERATION: &str = "Operation";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_has_a_name_of_its_own_and_a_meaning() {
        let mut names: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Metric::ALL.len());
        for metric in Metric::ALL {
            assert!(metric.description().trim_end().ends_with('.'), "{metric:?}: {}", metric.description());
        }
    }
}
