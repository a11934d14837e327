//! Three Lambda functions that hand one request on, by `ROLE`: `api` takes it over HTTP and sends a message, `worker` takes the message
//! and puts an event, `consumer` takes the event and has the effect, a new item in `EFFECTS_TABLE`. Each passes on the key it got.

use std::env;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use lambda_http::{
    Error,
    http::StatusCode,
    lambda_runtime::{run, service_fn},
};
use lambda_idempotency::{
    Attempt, Idempotency, client_from_env,
    http::Json,
    idempotent,
    propagation::{WithKey, into_json},
    sdk_config_from_env,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    item: String,
}

struct Queue {
    client: aws_sdk_sqs::Client,
    url: String,
}

struct Effects {
    client: aws_sdk_dynamodb::Client,
    table: String,
}

#[idempotent(operation = "place-order", version = 1, scope = none)]
async fn place(Json(order): Json<Order>, attempt: Attempt, queue: &Queue) -> Result<(StatusCode, Value), Error> {
    let message = queue.client.send_message().queue_url(&queue.url).message_body(serde_json::to_string(&order)?);
    message.idempotency_key(attempt.key()).send().await?;
    Ok((StatusCode::ACCEPTED, serde_json::to_value(order)?))
}

#[idempotent(sqs, operation = "take-order", version = 1, scope = none)]
async fn take(order: Order, attempt: &Attempt, bus: &aws_sdk_eventbridge::Client) -> Result<(), Error> {
    let detail = into_json(serde_json::to_value(order)?, attempt.key())?;
    let entry = PutEventsRequestEntry::builder().source("com.example.orders").detail_type("OrderTaken");
    bus.put_events().entries(entry.detail(detail.to_string()).build()).send().await?;
    Ok(())
}

#[idempotent(eventbridge, operation = "ship-order", version = 1, scope = none)]
async fn ship(order: Order, attempt: &Attempt, effects: &Effects) -> Result<(), Error> {
    let run = format!("{}/{}", attempt.epoch().get(), attempt.number().get());
    let put = effects.client.put_item().table_name(&effects.table).item("run", AttributeValue::S(run));
    let put = put.item("key", AttributeValue::S(attempt.key().as_str().to_owned()));
    put.item("do", AttributeValue::S(order.item)).send().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let (idempotency, config) = (&Idempotency::from_env().await?, sdk_config_from_env().await);
    match env::var("ROLE")?.as_str() {
        "api" => {
            let queue = &Queue { client: aws_sdk_sqs::Client::new(&config), url: env::var("QUEUE_URL")? };
            lambda_http::run(service_fn(|request| place(idempotency, queue, request))).await
        }
        "worker" => {
            let bus = &aws_sdk_eventbridge::Client::new(&config);
            run(service_fn(|event| take(idempotency, bus, event))).await
        }
        _ => {
            let effects = &Effects { client: client_from_env().await, table: env::var("EFFECTS_TABLE")? };
            run(service_fn(|event| ship(idempotency, effects, event))).await
        }
    }
}
