//! `POST /orders`: stock is set aside, the card is charged, a shipment is booked; what was done is undone if one of them is refused.

use http::StatusCode;
use lambda_http::{Body, Error, Request, Response};
use lambda_idempotency::{
    Attempt, Event, EventError, StageError, StepError, TableWrite, Undo, Undone,
    http::{Classify, Failure, FromRequest, Json, Reply},
    idempotent,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    carrier::{Booked, Carrier},
    charge::{Amount, Currency, Name, NewCharge},
    config::tenant_scope,
    evidence::with_evidence,
    named_by_path::named_by_path,
    parcel::{Address, Quantity},
    provider::{Charged, Found, Provider, ProviderError},
    response::json_response,
    stock::{Stock, StockError},
};

/// The steps, by the names under which their outputs are stored.
const RESERVE: &str = "reserve-stock";
const CHARGE: &str = "charge-card";
const SHIP: &str = "book-shipment";

/// What a caller asks for. Anything else in the body is refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewOrder {
    sku: Name,
    quantity: Quantity,
    amount: Amount,
    currency: Currency,
    customer: Name,
    address: Address,
}

/// How much of an item there is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filled {
    available: u32,
}

/// What an order is made of, besides its tables.
pub(crate) struct Shop {
    pub(crate) stock: Stock,
    pub(crate) carrier: Carrier,
    /// The table of orders: partition key `order_id` (S).
    pub(crate) orders: String,
}

/// An order that was placed.
#[derive(Clone, Debug, Serialize)]
struct Order {
    id: String,
    transaction: String,
    shipment: String,
}

/// Places an order.
#[idempotent(
    operation = "place-order",
    version = 1,
    scope = tenant_scope(),
    undo = |undo| take_back(undo, provider, shop),
)]
pub(crate) async fn place_order(
    Json(asked): Json<NewOrder>,
    attempt: Attempt,
    provider: &Provider,
    shop: &Shop,
) -> Result<Response<Body>, OrderError> {
    let tenant = attempt.scope().as_tenant().unwrap_or_default();
    let NewOrder { sku, quantity, amount, currency, customer, address } = asked;
    attempt
        .step_with_undo(RESERVE, async |key| {
            Ok::<_, OrderError>(shop.stock.reserve(tenant, sku.as_str(), quantity.get(), &key).await?)
        })
        .await?;
    let charge = NewCharge { amount, currency, customer };
    let transaction: String = attempt
        .step_with_undo(CHARGE, async |key| match provider.charge(&charge, &key, &attempt).await? {
            Charged::Succeeded { transaction } => Ok(transaction),
            Charged::Declined { code } => Err(OrderError::Declined(code)),
        })
        .await?;
    let shipment: String = attempt
        .step(SHIP, async |key| match shop.carrier.book(sku.as_str(), address.as_str(), &key, &attempt).await? {
            Booked::Shipment { id } => Ok(id),
            Booked::Refused => Err(OrderError::NotServed),
        })
        .await?;
    let order = Order { id: attempt.step_key("order"), transaction, shipment };
    let row = json!({
        "order_id": order.id, "tenant": tenant, "sku": sku, "quantity": quantity, "amount": charge.amount,
        "currency": charge.currency, "customer": charge.customer, "transaction": order.transaction,
        "shipment": order.shipment,
    });
    attempt.publish(Event::eventbridge("com.example.shop", "OrderPlaced", &row)?)?;
    attempt.stage(TableWrite::insert(&shop.orders, with_evidence(row, &attempt), "order_id")?)?;
    Ok(json_response(StatusCode::CREATED, &order)?)
}

/// Takes back what a step of an order did that was refused in the end.
async fn take_back(undo: Undo, provider: &Provider, shop: &Shop) -> Result<Undone, Error> {
    let undone = match undo.step() {
        // By its key alone, whether it is known that something was set aside or not.
        RESERVE => match shop.stock.release(&undo.step_key()).await {
            Err(StockError::Busy | StockError::NoAnswer(_)) => return Ok(Undone::Later),
            released => released.map_err(Error::from),
        },
        CHARGE => match refund(&undo, provider).await {
            // It may have been given back or not; the next request asks again, under the same key.
            Err(TakeBackError::Provider(error)) if error.may_pass() => return Ok(Undone::Later),
            refunded => refunded.map_err(Error::from),
        },
        other => Err(format!("the step {other:?} has nothing that takes it back").into()),
    };
    undone.map(|()| Undone::Done)
}

/// Gives a charge back.
async fn refund(undo: &Undo, provider: &Provider) -> Result<(), TakeBackError> {
    let transaction = match undo.output::<String>() {
        // An attempt was lost while it charged: the provider knows.
        Err(StepError::Unfinished { .. }) => match provider.find(&undo.step_key(), undo.attempt()).await? {
            Found::Charge(charge) => charge.id,
            Found::Nothing => return Ok(()),
            Found::InProgress => return Err(ProviderError::InProgress.into()),
        },
        output => output?,
    };
    Ok(provider.refund(&transaction, &undo.key(), undo.attempt()).await?)
}

/// Why a charge was not given back.
#[derive(Debug, thiserror::Error)]
enum TakeBackError {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Step(#[from] StepError),
}

/// `PUT /stock/{sku}`: says how much of an item there is.
pub(crate) async fn fill_stock(shop: &Shop, request: &Request, sku: &str) -> Result<Reply, Error> {
    let tenant = match tenant_scope().scope(request) {
        Ok(tenant) => tenant,
        Err(problem) => return Ok(problem.into_response().into()),
    };
    let filled = match Json::<Filled>::from_request(request) {
        Ok(Json(filled)) => filled,
        Err(rejection) => return Ok((*rejection).into()),
    };
    let sku = match named_by_path(sku) {
        Ok(sku) => sku,
        Err(problem) => return Ok(problem.into_response().into()),
    };
    shop.stock.set(tenant.as_tenant().unwrap_or_default(), sku.as_str(), filled.available).await?;
    Ok(json_response(StatusCode::OK, &json!({ "sku": sku, "available": filled.available }))?.into())
}

/// Why no order was placed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    #[error("the card was declined: {0}")]
    Declined(String),
    #[error("the carrier does not serve this address")]
    NotServed,
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("the order cannot be staged")]
    Stage(#[from] StageError),
    #[error("the event cannot be published")]
    Event(#[from] EventError),
    #[error("no response could be made")]
    Response(#[from] Error),
}

impl Classify for OrderError {
    fn classify(self) -> Failure {
        let status = match self {
            Self::Declined(_) => StatusCode::PAYMENT_REQUIRED,
            Self::NotServed => StatusCode::UNPROCESSABLE_ENTITY,
            // Not 409, which stands for "in progress": callers would ask again and again (docs/guide/client.md). Under this key the
            // item is gone for good, whatever comes into stock later; a new key is a new order.
            Self::Stock(StockError::NotEnough(_) | StockError::GivenBack) => StatusCode::GONE,
            // The attempt's own steps stay, and the next one goes on behind them, under the same keys: it need not wait.
            Self::Stock(_) => return Failure::Retryable { retry_after: None, source: self.into() },
            Self::Step(ref error) if error.is_retryable() => {
                return Failure::Retryable { retry_after: None, source: self.into() };
            }
            Self::Provider(error) => return error.classify(),
            Self::Step(_) | Self::Stage(_) | Self::Event(_) | Self::Response(_) => {
                return Failure::Abandoned(self.into());
            }
        };
        match json_response(status, &json!({ "refused": self.to_string() })) {
            Ok(response) => Failure::Permanent(Box::new(response)),
            Err(source) => Failure::Abandoned(source),
        }
    }
}
