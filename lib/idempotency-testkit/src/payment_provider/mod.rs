//! A payment provider with Stripe's contract for idempotency keys, for effects that are not DynamoDB's.
//!
//! | request | answer |
//! |---|---|
//! | `POST /v1/charges` `{"amount":1999,"currency":"eur","customer":"c1"}`, headers `Stripe-Account` (required) and `Idempotency-Key` | 200 and the [`Charge`] |
//! | … same account, key and parameters again | the stored answer, with `Idempotent-Replayed: true` |
//! | … same account and key, other parameters | 400 `idempotency_error` |
//! | … while the first request with this key runs | 409 `idempotency_error`, code `idempotency_key_in_use` |
//! | … something is missing or wrong | 400 `invalid_request_error`; not stored, the key stays free |
//! | … the card is declined ([`Behaviour::decline`]) | 402 `card_error`; stored under the key |
//! | `GET /v1/charges/by-key/{key}`, header `Stripe-Account` | 200 and the charge; 404 if there is none; 409 while a request with this key runs and has not charged |
//! | `POST /v1/refunds` `{"charge":"ch_00000001"}`, headers as above | 200 and the [`Refund`]; the same key again the same one; 404 if there is no such charge, 400 `charge_already_refunded` |
//! | `GET /refunds` | every refund made, in order, as a JSON array |
//! | `GET /ledger` | every charge made, in order, as a JSON array |
//! | `GET /behaviour`, `PUT /behaviour` | the [`Behaviour`], as JSON |
//!
//! The ledger is the truth of a test: it counts money, not answers. The provider is deterministic: ids
//! come from a counter. A request that has arrived is carried out even if its sender disconnects.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use idempotency_testkit::payment_provider::{Behaviour, PaymentProvider};
//!
//! let provider = PaymentProvider::start().await?;
//! // The next charge is made, but its caller gets a 500.
//! provider.set_behaviour(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
//! assert!(provider.url().starts_with("http://127.0.0.1:"));
//! assert!(provider.ledger().is_empty());
//! # Ok(())
//! # }
//! ```

mod answer;
mod behaviour;
mod charge;
mod error;
mod provider;
mod refund;
mod request;
mod routes;
mod state;

pub use behaviour::Behaviour;
pub use charge::{Charge, LedgerEntry};
pub use error::PaymentProviderError;
pub use provider::PaymentProvider;
pub use refund::Refund;
