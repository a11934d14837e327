//! A service that takes requests under idempotency keys and keeps what it took: a notifier, a carrier, whatever a function calls.
//!
//! | request | answer |
//! |---|---|
//! | `POST /v1/{kind}` with JSON, headers `Idempotency-Key` (required) and `Stripe-Account` (whose key it is) | 200 and `{"id": "{kind}-1"}` |
//! | … same account, kind, key and body again | the same answer, with `Idempotent-Replayed: true` |
//! | … another body | 400 |
//! | … turned away ([`Behaviour::turn_away`]) | 503; the key stays free |
//! | … refused for good ([`Behaviour::refuse`]) | 422; the key stays free |
//! | `GET /ledger` | all that was taken, in order, as a JSON array |
//!
//! A request that has arrived is carried out even if its sender disconnects.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use idempotency_testkit::keyed_service::{Behaviour, KeyedService};
//!
//! let carrier = KeyedService::start().await?;
//! // The next shipment is booked, but its caller gets a 500.
//! carrier.set_behaviour(Behaviour { fail_after: 1, ..Behaviour::default() });
//! assert!(carrier.ledger().is_empty());
//! # Ok(())
//! # }
//! ```

mod routes;
mod service;
mod state;

pub use service::{KeyedService, KeyedServiceError};
pub use state::{Behaviour, Taken};
