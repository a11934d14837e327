//! The ready-made functions, and what each of them needs.

use crate::Trigger;

/// A ready-made function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadyMade {
    pub(crate) name: &'static str,
    pub(crate) trigger: Trigger,
    /// Its queue, if it has one, and what its dead-letter queue is named after.
    pub(crate) queue: &'static str,
    pub(crate) tables: &'static [Table],
    /// Whether `idempotency local` runs the outbox's relay beside it.
    pub(crate) is_relayed: bool,
    /// What else it must be told.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// What a message or event for it may look like, for people to send.
    pub(crate) example: &'static str,
    /// What in the example makes it that one; empty where its key is no part of it.
    pub(crate) example_key: &'static str,
}

/// A table with string keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The environment variable with its name.
    pub(crate) variable: &'static str,
    pub(crate) partition_key: &'static str,
    pub(crate) sort_key: Option<&'static str>,
}

impl Table {
    const fn new(name: &'static str, variable: &'static str, partition_key: &'static str) -> Self {
        Self { name, variable, partition_key, sort_key: None }
    }
}

/// The ready-made functions.
pub(crate) const READY_MADE: [ReadyMade; 4] = [
    ReadyMade {
        name: "payments-api",
        trigger: Trigger::Http,
        queue: "payments",
        tables: &[
            Table::new("charges", "CHARGES_TABLE", "charge_id"),
            Table::new("accounts", "ACCOUNTS_TABLE", "account_id"),
            Table::new("ledger", "LEDGER_TABLE", "entry_id"),
            Table::new("stock", "STOCK_TABLE", "sku"),
            Table::new("shop-orders", "SHOP_ORDERS_TABLE", "order_id"),
        ],
        is_relayed: true,
        environment: &[],
        example: r#"{"amount": 1200, "currency": "EUR", "customer": "cus_42"}"#,
        example_key: "",
    },
    ReadyMade {
        name: "claims-intake",
        trigger: Trigger::Sqs,
        queue: "claims",
        tables: &[Table::new("chunks", "CHUNKS_TABLE", "chunk_id"), Table::new("claims", "CLAIMS_TABLE", "claim_key")],
        is_relayed: true,
        environment: &[("CHUNK_MODEL", "chunks-v1")],
        example: r#"{"tenant": "tenant-7", "claim_id": "CLM-2026-000123", "document": "Water came through the ceiling."}"#,
        example_key: "CLM-2026-000123",
    },
    ReadyMade {
        name: "order-events",
        trigger: Trigger::EventBridge,
        queue: "orders",
        tables: &[Table {
            name: "orders",
            variable: "ORDERS_TABLE",
            partition_key: "customer_id",
            sort_key: Some("order_id"),
        }],
        is_relayed: false,
        environment: &[],
        example: r#"{"source": "com.example.orders", "detail-type": "OrderPlaced", "detail": {"idempotencyKey": "order-1001-placed", "order_id": "ord-1001", "customer_id": "cus-42", "amount": 4200, "currency": "EUR", "occurred_at": "2026-10-01T12:00:00Z", "sequence": 1}}"#,
        example_key: "order-1001-placed",
    },
    ReadyMade {
        name: "outbox-relay",
        trigger: Trigger::Stream,
        queue: "outbox",
        tables: &[],
        is_relayed: false,
        // The local bus takes events for every name.
        environment: &[("OUTBOX_BUS", "default")],
        example: r#"{"pk": {"S": "local#create-charge#v1#example"}, "sk": {"S": "outbox#AAAAAAAAAAAAAAAAAAAAAA#0000"}, "execution": {"B": "AAAAAAAAAAAAAAAAAAAAAA=="}, "event_id": {"S": "event-1"}, "key": {"S": "event-1"}, "to": {"S": "sqs"}, "queue": {"S": "receipts"}, "body": {"S": "{\"charge\": \"ch_1\"}"}, "created_at": {"N": "1790856000000"}, "expires_at": {"N": "1893456000"}, "schema": {"N": "1"}}"#,
        example_key: "",
    },
];

impl ReadyMade {
    /// The function of this name; `None` for one of the user's own.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        READY_MADE.iter().find(|function| function.name == name)
    }

    /// The tables of all of them. They are there for every function, so that one of the user's own may begin as a copy of any.
    pub(crate) fn all_tables() -> impl Iterator<Item = &'static Table> {
        READY_MADE.iter().flat_map(|function| function.tables)
    }

    /// What all of them are told.
    pub(crate) fn whole_environment() -> impl Iterator<Item = (&'static str, &'static str)> {
        let tables = Self::all_tables().map(|table| (table.variable, table.name));
        tables.chain(READY_MADE.iter().flat_map(|function| function.environment.iter().copied()))
    }

    /// Their names.
    pub(crate) fn names() -> String {
        READY_MADE.map(|function| function.name).join(", ")
    }
}
