use aws_sdk_dynamodb::Client;

use crate::dynamodb::{DynamoDbError, EmbeddedDynamoDb, client_for, create_idempotency_table};
use crate::fault_proxy::{FaultProxy, FaultProxyError};

/// An idempotency table in an embedded DynamoDB behind a [`FaultProxy`]: what a test of a store or a handler needs.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use idempotency_testkit::FaultyTable;
/// use idempotency_testkit::fault_proxy::{Fault, Rule};
///
/// let table = FaultyTable::start().await?;
/// table.proxy().inject(Rule::on("PutItem").fault(Fault::DropAfter));
/// // … a store on `table.client()` and `FaultyTable::NAME` …
/// # Ok(())
/// # }
/// ```
///
/// Dropping it ends both.
#[derive(Debug)]
pub struct FaultyTable {
    proxy: FaultProxy,
    /// Held for as long as the proxy leads to it.
    _dynamodb: EmbeddedDynamoDb,
}

/// The table could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultyTableError {
    /// The embedded DynamoDB.
    #[error(transparent)]
    DynamoDb(#[from] DynamoDbError),
    /// The proxy.
    #[error(transparent)]
    FaultProxy(#[from] FaultProxyError),
}

impl FaultyTable {
    /// The table's name.
    pub const NAME: &str = "idempotency";

    /// Starts an empty one. Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// When there is no loopback port left.
    pub async fn start() -> Result<Self, FaultyTableError> {
        let dynamodb = EmbeddedDynamoDb::start().await?;
        create_idempotency_table(&dynamodb.client(), Self::NAME).await?;
        let proxy = FaultProxy::start(dynamodb.endpoint_url()).await?;
        Ok(Self { proxy, _dynamodb: dynamodb })
    }

    /// A client that goes through the proxy.
    #[must_use]
    pub fn client(&self) -> Client {
        client_for(self.proxy.endpoint_url())
    }

    /// The proxy: it takes faults and tells requests.
    #[must_use]
    pub fn proxy(&self) -> &FaultProxy {
        &self.proxy
    }
}
