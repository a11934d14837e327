//! `POST /charges`, `POST /transfers` and `POST /orders`: each is done once, however often it is sent.
//!
//! | route | effect | how it is done once |
//! |---|---|---|
//! | `POST /charges`, `GET /charges/{id}` | a charge at the payment provider | claimed before, completed after |
//! | `POST /transfers`, `PUT` and `GET /accounts/{id}` | two balances and a row of a ledger | atomic: they commit with the response, in one request |
//! | `POST /orders`, `PUT /stock/{sku}` | stock set aside, a charge, a shipment, an event | steps, which are undone if the order fails for good |
//!
//! The tenant is whom the front authenticated: the `sub` claim of the caller's JWT, if not said otherwise. The caller's key
//! goes on to the payment provider unchanged, under the tenant's own account, so that an attempt that follows a lost one
//! finds the charge instead of making a second.
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `IDEMPOTENCY_TABLE` | table of the idempotency records |
//! | `IDEMPOTENCY_NAMESPACE` | this deployment's name |
//! | `CHARGES_TABLE` | table of the charges |
//! | `ACCOUNTS_TABLE`, `LEDGER_TABLE` | tables of accounts and of what moved between them |
//! | `STOCK_TABLE`, `SHOP_ORDERS_TABLE` | tables of the stock and of orders |
//! | `CARRIER_URL` | where the carrier is, see below |
//! | `PAYMENT_PROVIDER_URL` | where the payment provider is, see below |
//! | `ON_ABANDONED` | `rerun` (default); `probe` asks the provider what became of a lost attempt's charge; `reject` is for a provider that can neither |
//! | `IN_FLIGHT` | what a duplicate gets while the charge is being made: `conflict` (default): 409; `wait`: the result, after 5 s at most; `accepted`: 202 and where to ask |
//! | `TENANT_FROM` | `jwt` (default): the claim `sub`, behind an API; `iam`: the caller of a function URL with `AWS_IAM`; `load-balancer`: the user of its authenticate action, which every rule must have then |
//!
//! # What it calls
//!
//! Services that honour the header `Idempotency-Key`, and act for the account in the header `Stripe-Account`, which is the tenant. The testkit has
//! both (`payment_provider`, `keyed_service`).
//!
//! | request | answer |
//! |---|---|
//! | `POST {provider}/v1/charges` with `{"amount", "currency", "customer"}` | 2xx with `{"id"}`; 402 with `{"error": {"type", "code"}}` if the card is declined; 409 while the first request with the key is carried out |
//! | `GET {provider}/v1/charges/by-key/{key}`, for `probe` alone | 200 with `{"id", "amount", "currency", "customer"}`; 404 if nothing was charged under the key |
//! | `POST {provider}/v1/refunds` with `{"charge"}` | 2xx |
//! | `POST {carrier}/v1/shipments` with `{"sku", "address"}` | 2xx with `{"id"}`; 422 if it does not ship that |
//!
//! 429 (and the carrier's 503) are tried again by the next request; whatever else is said, or not said, means that it may have happened.

mod account;
mod accounts;
mod carrier;
mod charge;
mod charges;
mod config;
mod create;
mod evidence;
mod named_by_path;
mod order;
mod parcel;
mod provider;
mod response;
mod routes;
mod show;
mod stock;
mod tenant_key;
mod transfer;

use lambda_http::{Error, run, service_fn};

use crate::config::App;

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let app = App::from_env().await?;
    run(service_fn(|request| routes::route(&app, request))).await
}
