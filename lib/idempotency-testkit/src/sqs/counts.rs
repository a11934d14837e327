use serde::Serialize;

/// How many messages a queue has. Exact, unlike SQS's `ApproximateNumberOf…`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Counts {
    /// The next receive may have them.
    pub visible: usize,
    /// Received, and neither deleted nor back.
    pub in_flight: usize,
    /// Sent with a delay that is not over.
    pub delayed: usize,
}

impl Counts {
    /// All of them together.
    #[must_use]
    pub fn total(self) -> usize {
        self.visible + self.in_flight + self.delayed
    }
}

/// The answer to a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// The message id. For a duplicate within five minutes, that of the first one.
    pub id: String,
    /// FIFO only.
    pub sequence_number: Option<String>,
}
