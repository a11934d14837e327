/// What an SQS operation does not do, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SqsError {
    /// There is no queue of that name.
    #[error("there is no queue `{name}`: create it first")]
    NoSuchQueue {
        /// The name that was asked for.
        name: String,
    },
    /// A queue of that name has other settings.
    #[error("queue `{name}` exists with other settings")]
    QueueExists {
        /// Its name.
        name: String,
    },
    /// The name is not one that SQS takes.
    #[error(
        "`{name}` is no queue name: up to 80 letters, digits, hyphens and underscores, and `.fifo` for a FIFO queue"
    )]
    InvalidName {
        /// The name that was asked for.
        name: String,
    },
    /// A setting of a queue is out of its range.
    #[error("the setting {name} is invalid: {why}")]
    InvalidSetting {
        /// The attribute's name in SQS.
        name: &'static str,
        /// What would be valid.
        why: &'static str,
    },
    /// There is no setting of that name.
    #[error("there is no queue attribute `{name}`")]
    UnknownSetting {
        /// The name that was asked for.
        name: String,
    },
    /// The dead-letter queue is not there, or is FIFO where its source is not, or the reverse.
    #[error("`{name}` cannot be the dead-letter queue: it must exist already and be of the same kind")]
    NoDeadLetterQueue {
        /// Its name.
        name: String,
    },
    /// The queue is no queue's dead-letter queue, so nothing can be moved back from it.
    #[error("`{name}` is no dead-letter queue")]
    NotADeadLetterQueue {
        /// Its name.
        name: String,
    },
    /// A message without a body.
    #[error("a message body must not be empty")]
    EmptyBody,
    /// A message or a batch over the limit.
    #[error("a message of {size} bytes is over the limit of {limit} bytes")]
    TooLarge {
        /// Its size with all attributes.
        size: usize,
        /// The limit it is over.
        limit: usize,
    },
    /// A body with characters that SQS does not take.
    #[error("the body has characters outside the set of XML 1.0")]
    InvalidContent,
    /// More message attributes than SQS takes.
    #[error("{count} message attributes are more than 10")]
    TooManyAttributes {
        /// How many.
        count: usize,
    },
    /// A message attribute that SQS does not take.
    #[error("the message attribute `{name}` is invalid: {why}")]
    InvalidAttribute {
        /// Its name.
        name: String,
        /// What would be valid.
        why: &'static str,
    },
    /// A parameter that is missing.
    #[error("the request must contain the parameter {name}")]
    MissingParameter {
        /// Its name.
        name: &'static str,
    },
    /// A parameter that SQS does not take, or not for this kind of queue.
    #[error("the parameter {name} is invalid: {why}")]
    InvalidParameter {
        /// Its name.
        name: &'static str,
        /// What would be valid.
        why: &'static str,
    },
    /// The receipt handle is none of this queue.
    #[error("the receipt handle is not one of this queue")]
    InvalidReceipt,
    /// FIFO only: the receipt handle's visibility timeout has ended.
    #[error("the receipt handle has expired")]
    ExpiredReceipt,
    /// The message is not in flight under this receipt handle.
    #[error("the message is not in flight")]
    NotInFlight,
    /// A batch without entries.
    #[error("a batch must have entries")]
    EmptyBatch,
    /// A batch of more than ten entries.
    #[error("{count} entries are more than 10")]
    TooManyEntries {
        /// How many.
        count: usize,
    },
    /// Two entries of a batch have the same id.
    #[error("two entries of the batch have the id `{id}`")]
    RepeatedEntryId {
        /// The id.
        id: String,
    },
    /// An operation that this stand-in does not have.
    #[error("the operation `{name}` is not emulated")]
    Unsupported {
        /// Its name.
        name: String,
    },
}
