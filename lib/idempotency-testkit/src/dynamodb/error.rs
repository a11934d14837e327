use crate::BindError;

/// What can go wrong with a local DynamoDB.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DynamoDbError {
    /// The address could not be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The in-memory database could not be opened.
    #[error("cannot open the in-memory database")]
    Open(#[source] dynoxide::DynoxideError),
    /// DynamoDB did not do what was asked.
    #[error("cannot {action} table `{table}`")]
    Request {
        /// What was tried, such as "create".
        action: &'static str,
        /// The table's name.
        table: String,
        /// The SDK's error.
        source: Box<aws_sdk_dynamodb::Error>,
    },
    /// A table of that name exists and is not the one that was asked for.
    #[error("table `{table}` exists with {found}, not {expected}: delete it or use another name")]
    SchemaDiffers {
        /// The table's name.
        table: String,
        /// The schema that was asked for.
        expected: String,
        /// The schema that is there.
        found: String,
    },
    /// The table did not become active in time.
    #[error("table `{table}` did not become active in time")]
    NotActive {
        /// The table's name.
        table: String,
    },
}
