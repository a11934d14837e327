//! Goal: each fault has the effect and the answer that it promises. Method: a real SDK client writes
//! through the proxy, and a second client that goes around it looks at the table.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::put_item::{PutItemError, PutItemOutput};
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use idempotency_testkit::dynamodb::{EmbeddedDynamoDb, client_for, create_table};
use idempotency_testkit::eventually;
use idempotency_testkit::fault_proxy::{Fault, FaultProxy, Gate, Rule};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

type PutResult = Result<PutItemOutput, SdkError<PutItemError>>;

struct Setup {
    dynamodb: EmbeddedDynamoDb,
    proxy: FaultProxy,
    /// Goes through the proxy and does not retry.
    client: Client,
}

impl Setup {
    async fn new() -> Self {
        let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
        create_table(&dynamodb.client(), "effects", "id", None).await.unwrap();
        let proxy = FaultProxy::start(dynamodb.endpoint_url()).await.unwrap();
        let config = client_for(proxy.endpoint_url()).config().to_builder().retry_config(RetryConfig::disabled());
        let client = Client::from_conf(config.build());
        Self { dynamodb, proxy, client }
    }

    async fn put(&self, id: &str) -> PutResult {
        put(&self.client, id).await
    }

    /// Puts in a task of its own, for a put whose answer is held.
    fn spawn_put(&self, id: &'static str) -> JoinHandle<PutResult> {
        let client = self.client.clone();
        tokio::spawn(async move { put(&client, id).await })
    }

    async fn is_there(&self, id: &str) -> bool {
        let id = AttributeValue::S(id.into());
        let got = self.dynamodb.client().get_item().table_name("effects").key("id", id).consistent_read(true);
        got.send().await.unwrap().item.is_some()
    }
}

async fn put(client: &Client, id: &str) -> PutResult {
    client.put_item().table_name("effects").item("id", AttributeValue::S(id.into())).send().await
}

fn code(result: PutResult) -> Option<String> {
    result.unwrap_err().into_service_error().code().map(str::to_owned)
}

#[tokio::test]
async fn without_rules_requests_pass_and_are_recorded() {
    let setup = Setup::new().await;

    setup.put("1").await.unwrap();
    let refused = setup.client.get_item().table_name("missing").key("id", AttributeValue::S("1".into())).send().await;
    assert!(refused.unwrap_err().into_service_error().is_resource_not_found_exception());

    let requests = setup.proxy.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].operation.as_str(), requests[0].table.as_deref()), ("PutItem", Some("effects")));
    assert_eq!(requests[0].body["Item"], json!({ "id": { "S": "1" } }));
    assert_eq!((requests[0].fault.as_ref(), requests[0].status), (None, Some(200)));
    assert_eq!((requests[1].operation.as_str(), requests[1].status), ("GetItem", Some(400)));
    setup.proxy.clear_requests();
    assert!(setup.proxy.requests().is_empty());
}

#[tokio::test]
async fn a_proxy_that_runs_for_long_keeps_the_newest_requests_and_their_answers() {
    let setup = Setup::new().await;
    let ids = |proxy: &FaultProxy| -> Vec<_> {
        let requests = proxy.requests().into_iter();
        requests.map(|request| (request.body["Item"]["id"]["S"].clone(), request.status)).collect()
    };
    for id in ["1", "2"] {
        setup.put(id).await.unwrap();
    }
    setup.proxy.keep_requests(2);
    assert_eq!(ids(&setup.proxy), [(json!("1"), Some(200)), (json!("2"), Some(200))]);
    setup.put("3").await.unwrap();
    assert_eq!(ids(&setup.proxy), [(json!("2"), Some(200)), (json!("3"), Some(200))]);
    setup.proxy.keep_requests(0);
    setup.put("4").await.unwrap();
    assert!(setup.proxy.requests().is_empty() && setup.is_there("4").await);
}

#[tokio::test]
async fn headers_pass_unchanged_in_both_directions() {
    let setup = Setup::new().await;
    let (direct, proxied) = (setup.dynamodb.endpoint_url(), setup.proxy.endpoint_url());

    // The health check needs no signature. Only the headers that name a moment may differ.
    let mut replies = Vec::new();
    for url in [direct, proxied] {
        let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new());
        let client = client.build_http::<http_body_util::Empty<bytes::Bytes>>();
        let mut headers = client.get(url.parse().unwrap()).await.unwrap().headers().clone();
        headers.remove("date");
        headers.remove("x-amzn-requestid");
        replies.push(headers);
    }

    assert!(replies[0].contains_key("x-amz-crc32"), "{replies:?}");
    // The checksum is over the same body, so it is equal.
    assert_eq!(replies[0], replies[1]);
}

#[tokio::test]
async fn drop_before_closes_the_connection_and_applies_nothing() {
    let setup = Setup::new().await;
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::DropBefore));

    let error = setup.put("1").await.unwrap_err();

    assert!(matches!(error, SdkError::DispatchFailure(_)), "{error:?}");
    assert!(!setup.is_there("1").await);
    // One request: nothing below the SDK sends it again by itself.
    let requests = setup.proxy.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].fault.clone(), requests[0].status), (Some(Fault::DropBefore), None));
    setup.put("2").await.unwrap();
}

#[tokio::test]
async fn drop_after_applies_and_closes_the_connection_also_on_a_used_connection() {
    let setup = Setup::new().await;
    setup.put("0").await.unwrap();
    setup.proxy.clear_requests();
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::DropAfter));

    let error = setup.put("1").await.unwrap_err();

    assert!(matches!(error, SdkError::DispatchFailure(_)), "{error:?}");
    assert!(setup.is_there("1").await);
    assert_eq!(setup.proxy.requests().len(), 1);
}

#[tokio::test]
async fn a_reset_before_or_after_is_a_lost_reply_too() {
    let setup = Setup::new().await;
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::ResetBefore));
    setup.proxy.inject(Rule::on("PutItem").nth(2).fault(Fault::ResetAfter));

    for id in ["1", "2"] {
        let error = setup.put(id).await.unwrap_err();
        assert!(matches!(error, SdkError::DispatchFailure(_)), "{error:?}");
    }

    assert!(!setup.is_there("1").await);
    assert!(setup.is_there("2").await);
    assert_eq!(setup.proxy.requests().len(), 2);
}

#[tokio::test]
async fn a_drop_ends_the_connection_in_order_and_a_reset_does_not() {
    let setup = Setup::new().await;
    let address = setup.proxy.endpoint_url().trim_start_matches("http://").to_owned();
    let mut ends = Vec::new();
    for fault in [Fault::DropBefore, Fault::DropAfter, Fault::ResetBefore, Fault::ResetAfter] {
        setup.proxy.inject(Rule::any().fault(fault));
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        ends.push(stream.read(&mut [0; 1]).await.map_err(|error| error.kind()));
    }

    let reset = Err(std::io::ErrorKind::ConnectionReset);
    assert_eq!(ends, [Ok(0), Ok(0), reset, reset]);
}

#[tokio::test]
async fn an_sdk_that_retries_meets_its_own_lost_write() {
    let setup = Setup::new().await;
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::DropAfter));

    let retrying = client_for(setup.proxy.endpoint_url());
    let put = retrying.put_item().table_name("effects").item("id", AttributeValue::S("1".into()));
    let error = put.condition_expression("attribute_not_exists(id)").send().await.unwrap_err();

    assert!(error.into_service_error().is_conditional_check_failed_exception());
    let statuses: Vec<_> = setup.proxy.requests().iter().map(|request| request.status).collect();
    assert_eq!(statuses, [None, Some(400)]);
}

#[tokio::test]
async fn error_before_applies_nothing_and_error_after_applies() {
    let setup = Setup::new().await;
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::ErrorBefore));
    setup.proxy.inject(Rule::on("PutItem").nth(2).fault(Fault::ErrorAfter));

    assert!(setup.put("1").await.unwrap_err().into_service_error().is_internal_server_error());
    assert!(setup.put("2").await.unwrap_err().into_service_error().is_internal_server_error());

    assert!(!setup.is_there("1").await);
    assert!(setup.is_there("2").await);
    assert_eq!(setup.proxy.requests()[0].status, Some(500));
}

#[tokio::test]
async fn throttle_is_the_modelled_exception() {
    let setup = Setup::new().await;
    setup.proxy.inject(Rule::any().fault(Fault::Throttle));

    let error = setup.put("1").await.unwrap_err().into_service_error();

    assert!(error.is_provisioned_throughput_exceeded_exception(), "{error:?}");
    assert!(!setup.is_there("1").await);
}

#[tokio::test]
async fn any_answer_can_be_given() {
    let setup = Setup::new().await;
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "cancelled",
        "CancellationReasons": [{ "Code": "TransactionConflict" }],
    });
    setup.proxy.inject(Rule::on("TransactWriteItems").table("effects").fault(Fault::Answer { status: 400, body }));

    let put = Put::builder().table_name("effects").item("id", AttributeValue::S("1".into())).build().unwrap();
    let write = setup.client.transact_write_items().transact_items(TransactWriteItem::builder().put(put).build());
    let error = write.send().await.unwrap_err().into_service_error();

    let cancelled = error.as_transaction_canceled_exception_reasons();
    assert_eq!(cancelled, ["TransactionConflict"]);
    assert!(!setup.is_there("1").await);
}

/// The codes of a cancelled transaction.
trait Reasons {
    fn as_transaction_canceled_exception_reasons(&self) -> Vec<String>;
}

impl Reasons for aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError {
    fn as_transaction_canceled_exception_reasons(&self) -> Vec<String> {
        let Self::TransactionCanceledException(error) = self else { panic!("{self:?}") };
        error.cancellation_reasons().iter().filter_map(|reason| reason.code().map(str::to_owned)).collect()
    }
}

#[tokio::test]
async fn slow_waits_before_and_slow_after_waits_behind_the_write() {
    let setup = Setup::new().await;
    let impatient = {
        let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_millis(300)).build();
        Client::from_conf(setup.client.config().to_builder().timeout_config(timeouts).build())
    };
    let forever = Duration::from_secs(3600);
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::Slow(forever)));
    setup.proxy.inject(Rule::on("PutItem").nth(2).fault(Fault::SlowAfter(forever)));
    setup.proxy.inject(Rule::on("PutItem").nth(3).fault(Fault::Slow(Duration::from_millis(1))));

    assert!(matches!(put(&impatient, "1").await, Err(SdkError::TimeoutError(_))));
    assert!(matches!(put(&impatient, "2").await, Err(SdkError::TimeoutError(_))));
    setup.put("3").await.unwrap();

    assert!(!setup.is_there("1").await);
    // The sender may have given up before the write.
    eventually(Duration::from_secs(10), async || setup.is_there("2").await.then_some(())).await.unwrap();
    assert!(setup.is_there("3").await);
}

#[tokio::test]
async fn a_held_write_lands_after_its_sender_gave_up() {
    let setup = Setup::new().await;
    let gate = Gate::new();
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::Hold(gate.clone())));

    let sender = setup.spawn_put("1");
    gate.reached().await;
    sender.abort();
    assert!(sender.await.unwrap_err().is_cancelled());
    assert!(!setup.is_there("1").await);

    gate.open();

    eventually(Duration::from_secs(10), async || setup.is_there("1").await.then_some(())).await.unwrap();
    // A gate stays open.
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::Hold(gate)));
    setup.put("2").await.unwrap();
}

#[tokio::test]
async fn a_held_reply_comes_after_its_write() {
    let setup = Setup::new().await;
    let gate = Gate::new();
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::HoldAfter(gate.clone())));

    let sender = setup.spawn_put("1");
    gate.reached().await;

    assert!(setup.is_there("1").await);
    assert!(!sender.is_finished());
    assert_eq!(setup.proxy.requests()[0].status, None);
    gate.open();
    sender.await.unwrap().unwrap();
    assert_eq!(setup.proxy.requests()[0].status, Some(200));
}

#[tokio::test]
async fn predicates_see_the_body_and_rules_can_be_cleared() {
    let setup = Setup::new().await;
    let is_two = Rule::on("PutItem").when(|request| request.body["Item"]["id"]["S"] == "2").forever();
    setup.proxy.inject(is_two.fault(Fault::ErrorBefore));

    setup.put("1").await.unwrap();
    assert_eq!(code(setup.put("2").await).as_deref(), Some("InternalServerError"));
    assert_eq!(code(setup.put("2").await).as_deref(), Some("InternalServerError"));
    setup.proxy.clear_rules();
    setup.put("2").await.unwrap();
}

#[tokio::test]
async fn stop_gives_up_on_held_requests() {
    let setup = Setup::new().await;
    let gate = Gate::new();
    setup.proxy.inject(Rule::on("PutItem").fault(Fault::Hold(gate.clone())));
    let sender = setup.spawn_put("1");
    gate.reached().await;

    setup.proxy.stop().await;

    sender.await.unwrap().unwrap_err();
    gate.open();
    let id = AttributeValue::S("1".into());
    let got = setup.dynamodb.client().get_item().table_name("effects").key("id", id).send().await.unwrap();
    assert!(got.item.is_none());
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_a_502_and_not_a_silent_drop() {
    let setup = Setup::new().await;
    setup.dynamodb.stop().await;

    let error = put(&setup.client, "1").await.unwrap_err();

    assert_eq!(error.raw_response().unwrap().status().as_u16(), 502);
}
