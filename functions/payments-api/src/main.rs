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
//! | `CARRIER_URL` | where the carrier is |
//! | `PAYMENT_PROVIDER_URL` | where the payment provider is |
//! | `ON_ABANDONED` | `rerun` (default); `probe` asks the provider what became of a lost attempt's charge; `reject` is for a provider that can neither |
//! | `IN_FLIGHT` | what a duplicate gets while the charge is being made: `conflict` (default): 409; `wait`: the result, after 5 s at most; `accepted`: 202 and where to ask |
//! | `TENANT_FROM` | `jwt` (default): the claim `sub`, behind an API; `iam`: the caller of a function URL with `AWS_IAM`; `load-balancer`: the user of its authenticate action, which every rule must have then |

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
