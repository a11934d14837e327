/// A stream's event source mapping could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A batch cannot be that large.
    #[error("a batch of {size} is not 1 to {limit}")]
    BatchSize {
        /// The configured size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The filter has something that is not understood.
    #[error("the filter's pattern is not understood at {place:?}: {why}")]
    Filter {
        /// Where in the pattern, its members' names joined by dots.
        place: String,
        /// What is wrong there.
        why: &'static str,
    },
    /// The endpoint is no URL.
    #[error("{url:?} is not the URL of a DynamoDB engine")]
    Endpoint {
        /// What was given.
        url: String,
    },
    /// The table has no stream.
    #[error("the table {table:?} has no stream; create it with one, of new images")]
    NoStream {
        /// The table.
        table: String,
    },
    /// The engine did not do what was asked.
    #[error("{operation} failed: {told}")]
    Engine {
        /// What was asked.
        operation: &'static str,
        /// What it said, or why it said nothing.
        told: String,
    },
}
