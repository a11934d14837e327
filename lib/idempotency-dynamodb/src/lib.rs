//! The idempotency record on Amazon DynamoDB.
//!
//! [`DynamoDbStore`] implements [`idempotency_core::Store`] with conditional puts: one request claims, one completes, and
//! the old record comes back inside a failed condition, so a replay is one request too.
//! [`client_from_env`] builds an SDK client with the time limits that the protocol needs.
//!
//! ```no_run
//! use idempotency_core::Engine;
//! use idempotency_dynamodb::{DynamoDbStore, client_from_env};
//!
//! # async fn example() {
//! let engine = Engine::new(DynamoDbStore::new(client_from_env().await, "idempotency"));
//! # }
//! ```
//!
//! # Permissions
//!
//! A function that claims and completes needs `dynamodb:PutItem` on the table, and `dynamodb:GetItem` to replay results
//! above 32 KB. Both can be limited to its operations with the condition key `dynamodb:LeadingKeys`.
//!
//! Steps and memos need `dynamodb:Query` on the table as well, for attempts that follow a lost or released one. Writes that are staged
//! need what they would need alone: `PutItem`, `UpdateItem`, `DeleteItem` and `ConditionCheckItem` on their tables (Amazon DynamoDB
//! Developer Guide, "Using IAM with DynamoDB transactions").
//!
//! To write and read many records by few requests ([`Store::write_many`](idempotency_core::Store::write_many),
//! [`get_many`](idempotency_core::Store::get_many)) it needs `dynamodb:PartiQLInsert`, `dynamodb:PartiQLUpdate` and
//! `dynamodb:BatchGetItem` as well, which `dynamodb:LeadingKeys` limits too (Service Authorization Reference, "Actions, resources, and
//! condition keys for Amazon DynamoDB"). Without them each record has a request of its own, and the log says so once.

mod audit_item;
mod audited;
mod batch_read;
mod batch_support;
mod batch_write;
mod client;
mod deadline;
mod error;
mod item;
mod observer;
mod outbox_item;
mod partition;
mod powertools_table;
mod put_condition;
mod row_item;
mod scan;
mod statement;
mod store;
mod stored_item;
mod transaction;

pub use audit_item::AuditEntry;
pub use client::{client_from_env, retries, sdk_config_from_env, sdk_config_loader, timeouts};
pub use item::{attribute, record_from_item};
pub use observer::StoreObserver;
pub use outbox_item::{item_from_outbox_entry, outbox_attribute, outbox_entry_from_item};
pub use powertools_table::{PowertoolsAttribute, PowertoolsFlavour, PowertoolsRow, PowertoolsStatus, PowertoolsTable};
pub use scan::{PositionError, ScanPage, ScanPosition, TableScan};
pub use store::DynamoDbStore;
pub use stored_item::StoredItem;
