//! One key from the first request to the last effect: an API sends a message, a worker takes it and puts an event, a consumer has
//! the effect. Each is a binary of its own, and whatever is between them delivers twice.

use std::{num::NonZeroU32, time::Duration};

use idempotency_cli::Stack;
use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table},
    eventbridge::{EventBus, Rule},
    eventually, function_binary,
    http_front::{HttpFront, HttpKind},
    lambda::{AsyncConfig, AsyncInvoker, Function, FunctionConfig, Logs},
    sqs::{EventSourceMapping, MappingConfig, QueueConfig, Sqs},
};
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn one_request_sent_five_times_has_one_effect_at_the_end_under_the_callers_key() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let twice = NonZeroU32::new(1).unwrap();
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    create_idempotency_table(&dynamodb.client(), Stack::TABLE).await.unwrap();
    create_table(&dynamodb.client(), "effects", "run", None).await.unwrap();
    let sqs = Sqs::start().await.unwrap();
    let bus = EventBus::start().await.unwrap();
    let config = QueueConfig::new("orders").visibility_timeout(6 * PATIENCE).duplicate_every(twice);
    let queue = sqs.create_queue(config).unwrap();
    let function = |role: &str| {
        let config = FunctionConfig::new(role, function_binary("relay-fixture").unwrap())
            .timeout(PATIENCE)
            .logs(Logs::Captured)
            .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.endpoint_url())
            .env("AWS_ENDPOINT_URL_SQS", sqs.url())
            .env("AWS_ENDPOINT_URL_EVENTBRIDGE", bus.url())
            .env("IDEMPOTENCY_TABLE", Stack::TABLE)
            .env("IDEMPOTENCY_NAMESPACE", Stack::NAMESPACE)
            .env("EFFECTS_TABLE", "effects")
            .env("QUEUE_URL", queue.url())
            .env("ROLE", role);
        Function::new(config).unwrap()
    };
    let (api, worker, consumer) = (function("api"), function("worker"), function("consumer"));
    let invoker = AsyncInvoker::new(consumer.clone(), AsyncConfig::new().duplicate_every(twice));
    bus.duplicate_every(Some(twice));
    bus.add_rule(Rule::new("orders").source("com.example.orders").target(invoker.clone()));
    let mapping = EventSourceMapping::start(&queue, worker.clone(), MappingConfig::new()).unwrap();
    let front = HttpFront::start(([127, 0, 0, 1], 0).into(), HttpKind::HttpApi, api.clone()).await.unwrap();

    let client = reqwest::Client::new();
    for _ in 0..5 {
        let request = client.post(format!("{}/orders", front.url())).header("Idempotency-Key", "order-42");
        let answer = request.json(&json!({ "item": "book" })).send().await.unwrap();
        assert_eq!(answer.status(), 202, "{:?}", api.logs());
    }
    // The copy of the message meets the first one's attempt, or its end.
    eventually(PATIENCE, async || (mapping.counts().deleted >= 1).then_some(())).await.unwrap();
    eventually(PATIENCE, async || {
        sqs.advance(6 * PATIENCE);
        queue.is_empty().then_some(())
    })
    .await
    .unwrap();
    eventually(PATIENCE, async || {
        invoker.advance(PATIENCE);
        (invoker.counts().pending == 0 && bus.counts().delivered >= 2).then_some(())
    })
    .await
    .unwrap();

    let effects = dynamodb.client().scan().table_name("effects").send().await.unwrap().items.unwrap();
    assert_eq!(effects.len(), 1, "{effects:?}\n{:?}", consumer.logs());
    assert_eq!(effects[0]["key"].as_s().unwrap(), "order-42");
    let counts = (mapping.stop().await, bus.counts(), invoker.counts());
    assert!(counts.0.deleted >= 2, "the message came twice: {counts:?}");
    assert!(counts.1.accepted >= 1 && counts.1.delivered >= 2, "the event came twice: {counts:?}");

    front.stop().await;
    for function in [api, worker, consumer] {
        function.shutdown().await;
    }
    bus.stop().await;
    sqs.stop().await;
    dynamodb.stop().await;
}
