//! Which operations have taken an old function's place.

use std::{collections::HashMap, fmt, sync::Arc};

use idempotency_dynamodb::PowertoolsTable;
use lambda_http::Request;

use super::{Asked, OldId};
use crate::function::BoxError;

type OfRequest = dyn Fn(&Request) -> Result<Option<OldId>, BoxError> + Send + Sync;
type OfCall = dyn Fn(&Asked<'_>) -> Result<Option<OldId>, BoxError> + Send + Sync;

/// An old table, and for each operation that has taken an old function's place how to find that one's row. See [the module](super).
///
/// Operations that are not named are not looked up.
#[derive(Clone)]
pub struct Migration {
    pub(super) table: PowertoolsTable,
    http: HashMap<String, Arc<OfRequest>>,
    functions: HashMap<String, Arc<OfCall>>,
}

impl Migration {
    /// A migration from this table, of no operation yet.
    pub fn new(table: PowertoolsTable) -> Self {
        Self { table, http: HashMap::new(), functions: HashMap::new() }
    }

    /// The same migration with an operation that serves HTTP requests. `id` says which row the old function would have written for a
    /// request; `None` where it would have written none (Powertools writes none for a request without a key, if it is not told to raise).
    ///
    /// An error of it refuses the request: nobody knows then whether the old function has carried it out.
    #[must_use]
    pub fn http(
        mut self,
        operation: impl Into<String>,
        id: impl Fn(&Request) -> Result<Option<OldId>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.http.insert(operation.into(), Arc::new(id));
        self
    }

    /// The same for an operation that is a function, or a function of records.
    #[must_use]
    pub fn function(
        mut self,
        operation: impl Into<String>,
        id: impl Fn(&Asked<'_>) -> Result<Option<OldId>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.functions.insert(operation.into(), Arc::new(id));
        self
    }

    pub(super) fn of_request(&self, operation: &str) -> Option<&OfRequest> {
        self.http.get(operation).map(Arc::as_ref)
    }

    pub(super) fn of_call(&self, operation: &str) -> Option<&OfCall> {
        self.functions.get(operation).map(Arc::as_ref)
    }
}

impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations: Vec<_> = self.http.keys().chain(self.functions.keys()).collect();
        f.debug_struct("Migration").field("table", &self.table).field("operations", &operations).finish()
    }
}
