//! Whether an operation's results are HTTP responses or values.

use futures::StreamExt;
use idempotency_core::{Engine, Record, Status};
use idempotency_dynamodb::{DynamoDbStore, StoredItem, TableScan};
use lambda_idempotency::{function, http as over_http};

use super::{connection::WITHIN, error::OperateError};

/// How many pages of at most 1 MB are looked through: some thousand records, for a tenth of a cent.
const PAGES: usize = 4;

/// What a stored result is. One of the other form cannot be read by its function, and an ended record does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// What a caller of an HTTP operation gets.
    Response,
    /// What a function returns, or the message of its failure.
    Value,
}

impl Form {
    /// The form of a stored result; `None` for one that is not known here.
    fn of(stored: &[u8]) -> Option<Self> {
        if over_http::read_stored(stored).is_some() {
            return Some(Self::Response);
        }
        function::read_stored(stored).map(|_| Self::Value)
    }

    /// The form of the record's own result, or else of another one of the same operation; `None` where none is found, or the table may not be
    /// scanned.
    pub(crate) async fn of_operation(engine: &Engine<DynamoDbStore>, record: &Record) -> Option<Self> {
        if let Some(form) = Self::of_record(engine, record).await {
            return Some(form);
        }
        let (of_operation, _) = record.key.as_str().rsplit_once('#')?;
        let scan =
            TableScan::new(1).key_prefix(format!("{of_operation}#")).statuses([Status::Completed, Status::Failed]);
        let mut pages = Box::pin(scan.pages(engine.store()).take(PAGES));
        while let Some(Ok(page)) = pages.next().await {
            for item in page.items {
                let StoredItem::Record(record) = item else { continue };
                if let Some(form) = Self::of_record(engine, &record).await {
                    return Some(form);
                }
            }
        }
        None
    }

    async fn of_record(engine: &Engine<DynamoDbStore>, record: &Record) -> Option<Self> {
        record.result.as_ref()?;
        let result = engine.read_result(record, WITHIN).await.ok()?;
        Self::of(result.body()?)
    }

    /// Refuses a result of another form than the operation's.
    ///
    /// # Errors
    ///
    /// [`OperateError::Usage`] says how to give one of that.
    pub(crate) fn check(self, of_operation: Self) -> Result<(), OperateError> {
        match (self, of_operation) {
            (Self::Value, Self::Response) => Err(OperateError::usage(
                "the operation is HTTP, and its function could not read a value: say what its callers get with --completed RESPONSE.json or \
                 --failed RESPONSE.json",
            )),
            (Self::Response, Self::Value) => Err(OperateError::usage(
                "the operation is one of a function or of messages, which could not read an HTTP response: say --completed-value JSON or \
                 --failed-message TEXT (or name the route, if it is HTTP)",
            )),
            _ => Ok(()),
        }
    }

    /// A word of doubt, where nothing was found to compare with.
    pub(crate) fn doubt(self) -> String {
        let (this, other) = match self {
            Self::Response => ("an HTTP response", "one of a function or of messages"),
            Self::Value => ("a value", "an HTTP one"),
        };
        format!(
            "No other result of this operation was found to compare with. You give {this}: if the operation is {other}, nobody can read that, and \
             it does not change before it expires."
        )
    }
}
