//! An embedded DynamoDB, clients for it, and the tables that the toolkit needs.
//!
//! [`EmbeddedDynamoDb`] is [dynoxide] in memory behind DynamoDB's real HTTP protocol on a
//! loopback port, so that the code under test uses the same SDK client as in AWS and other processes
//! (such as functions started by [`crate::lambda`]) can share it. DynamoDB Local works as well:
//! [`client_for`] takes any endpoint URL.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, create_idempotency_table};
//!
//! let dynamodb = EmbeddedDynamoDb::start().await?;
//! let client = dynamodb.client();
//! create_idempotency_table(&client, "idempotency").await?;
//!
//! let tables = client.list_tables().send().await?;
//! assert_eq!(tables.table_names(), ["idempotency"]);
//!
//! dynamodb.stop().await;
//! # Ok(())
//! # }
//! ```

mod client;
mod embedded;
mod error;
mod table;

pub use client::client_for;
pub use embedded::EmbeddedDynamoDb;
pub use error::DynamoDbError;
pub use table::{create_idempotency_table, create_table};
