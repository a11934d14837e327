//! Goal: the ordinary SDK client takes the local SQS for SQS, and curl reaches it too. Method: real requests over HTTP.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName,
    SendMessageBatchRequestEntry,
};
use http::Method;
use idempotency_testkit::sqs::{Message, MessageState, QueueConfig, Sqs};
use serde_json::json;
use support::send;

async fn sqs() -> (Sqs, Client) {
    let sqs = Sqs::start().await.unwrap();
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(sqs.url())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("LOCALTESTKIT", "local", None, None, "test"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    (sqs, Client::from_conf(config))
}

fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> Option<&str> {
    error.as_service_error().and_then(ProvideErrorMetadata::code)
}

#[tokio::test]
async fn a_message_goes_the_whole_way_through_the_sdk() {
    let (sqs, client) = sqs().await;
    let created = client.create_queue().queue_name("claims").attributes(QueueAttributeName::VisibilityTimeout, "60");
    let url = created.send().await.unwrap().queue_url.unwrap();
    assert_eq!(client.get_queue_url().queue_name("claims").send().await.unwrap().queue_url.unwrap(), url);
    assert_eq!(client.list_queues().send().await.unwrap().queue_urls(), std::slice::from_ref(&url));

    let text = MessageAttributeValue::builder().data_type("String").string_value("claim-17").build().unwrap();
    let bytes = MessageAttributeValue::builder().data_type("Binary").binary_value(Blob::new([0, 255])).build().unwrap();
    let sending = client.send_message().queue_url(&url).message_body("Test message.");
    let sending = sending.message_attributes("Idempotency-Key", text).message_attributes("bytes", bytes.clone());
    let sent = sending.send().await.unwrap();
    assert_eq!(sent.md5_of_message_body(), Some("e4e68fb7bd0e697a0ae8f1bb342846b3"));
    assert_eq!(sent.sequence_number(), None);

    let receiving = client.receive_message().queue_url(&url).wait_time_seconds(1);
    let receiving = receiving.message_system_attribute_names(MessageSystemAttributeName::All);
    let received = receiving.message_attribute_names("All").send().await.unwrap();
    let message = &received.messages()[0];
    assert_eq!((message.message_id(), message.body()), (sent.message_id(), Some("Test message.")));
    assert_eq!(message.md5_of_message_attributes(), sent.md5_of_message_attributes());
    let attributes = message.message_attributes().unwrap();
    assert_eq!(attributes["Idempotency-Key"].string_value(), Some("claim-17"));
    assert_eq!(attributes["bytes"], bytes);
    let system = message.attributes().unwrap();
    assert_eq!(system[&MessageSystemAttributeName::ApproximateReceiveCount], "1");
    assert_eq!(system[&MessageSystemAttributeName::SentTimestamp].len(), 13);

    let receipt = message.receipt_handle().unwrap();
    let change = client.change_message_visibility().queue_url(&url).receipt_handle(receipt).visibility_timeout(5);
    change.send().await.unwrap();
    client.delete_message().queue_url(&url).receipt_handle(receipt).send().await.unwrap();
    assert!(sqs.queue("claims").unwrap().is_empty());
    sqs.stop().await;
}

#[tokio::test]
async fn batches_settings_and_a_move_back_from_the_dead_letter_queue() {
    let (sqs, client) = sqs().await;
    let dead = sqs.create_queue(QueueConfig::new("dlq.fifo")).unwrap();
    let queue = sqs.create_queue(QueueConfig::new("q.fifo")).unwrap();
    let policy = json!({ "deadLetterTargetArn": dead.arn(), "maxReceiveCount": "1" }).to_string();
    let setting = client.set_queue_attributes().queue_url(queue.url());
    setting.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();

    let entry = |id: &str, group: Option<&str>| {
        let entry = SendMessageBatchRequestEntry::builder().id(id).message_body(id).message_deduplication_id(id);
        entry.set_message_group_id(group.map(str::to_owned)).build().unwrap()
    };
    let sending = client.send_message_batch().queue_url(queue.url());
    let sending = sending.entries(entry("a", Some("g"))).entries(entry("b", None)).entries(entry("c", Some("g")));
    let sent = sending.send().await.unwrap();
    assert_eq!(sent.successful().iter().map(|entry| entry.id()).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!((sent.failed()[0].id(), sent.failed()[0].code()), ("b", "MissingParameter"));
    assert!(sent.successful()[0].sequence_number() < sent.successful()[1].sequence_number());

    let received = client.receive_message().queue_url(queue.url()).max_number_of_messages(10).send().await.unwrap();
    let delete = |id: &str, receipt: &str| {
        DeleteMessageBatchRequestEntry::builder().id(id).receipt_handle(receipt).build().unwrap()
    };
    let deleting = client.delete_message_batch().queue_url(queue.url());
    let first = received.messages()[0].receipt_handle().unwrap();
    let deleted = deleting.entries(delete("0", first)).entries(delete("1", "nonsense")).send().await.unwrap();
    assert_eq!((deleted.successful().len(), deleted.failed()[0].code()), (1, "ReceiptHandleIsInvalid"));

    sqs.advance(Duration::from_secs(30));
    assert!(client.receive_message().queue_url(queue.url()).send().await.unwrap().messages().is_empty());
    let asked = client.get_queue_attributes().queue_url(dead.url()).attribute_names(QueueAttributeName::All);
    let attributes = asked.send().await.unwrap().attributes.unwrap();
    assert_eq!(attributes[&QueueAttributeName::ApproximateNumberOfMessages], "1");
    assert_eq!(attributes[&QueueAttributeName::QueueArn], dead.arn());
    let id = dead.messages()[0].id.clone();

    client.start_message_move_task().source_arn(dead.arn()).send().await.unwrap();
    let back = queue.messages();
    assert_eq!((back.len(), back[0].body.as_str(), back[0].receive_count), (1, "c", 0));
    assert_ne!(back[0].id, id);
    client.purge_queue().queue_url(queue.url()).send().await.unwrap();
    assert!(queue.is_empty());
    sqs.stop().await;
}

#[tokio::test]
async fn errors_are_the_sdks_own_types() {
    let (sqs, client) = sqs().await;
    let queue = sqs.create_queue(QueueConfig::new("q")).unwrap();

    let missing = client.send_message().queue_url("http://x/1/nowhere").message_body("x").send().await.unwrap_err();
    assert!(missing.as_service_error().unwrap().is_queue_does_not_exist(), "{missing:?}");
    let receipt = client.delete_message().queue_url(queue.url()).receipt_handle("x").send().await.unwrap_err();
    assert!(receipt.as_service_error().unwrap().is_receipt_handle_is_invalid(), "{receipt:?}");
    let empty = client.send_message_batch().queue_url(queue.url()).set_entries(Some(vec![])).send().await.unwrap_err();
    assert!(empty.as_service_error().unwrap().is_empty_batch_request(), "{empty:?}");
    let entry = || SendMessageBatchRequestEntry::builder().id("a").message_body("x").build().unwrap();
    let twice = client.send_message_batch().queue_url(queue.url()).entries(entry()).entries(entry());
    let twice = twice.send().await.unwrap_err();
    assert!(twice.as_service_error().unwrap().is_batch_entry_ids_not_distinct(), "{twice:?}");
    let exists = client.create_queue().queue_name("q").attributes(QueueAttributeName::DelaySeconds, "1");
    let exists = exists.send().await.unwrap_err();
    assert!(exists.as_service_error().unwrap().is_queue_name_exists(), "{exists:?}");
    let setting = client.create_queue().queue_name("r").attributes(QueueAttributeName::DelaySeconds, "901");
    let setting = setting.send().await.unwrap_err();
    assert!(setting.as_service_error().unwrap().is_invalid_attribute_value(), "{setting:?}");
    let other = client.list_queue_tags().queue_url(queue.url()).send().await.unwrap_err();
    assert_eq!(code(&other), Some("AWS.SimpleQueueService.UnsupportedOperation"));
    assert!(queue.is_empty());
    sqs.stop().await;
}

#[tokio::test]
async fn a_long_poll_ends_with_the_first_message_and_with_a_message_that_comes_back() {
    let (sqs, _) = sqs().await;
    let queue = sqs.create_queue(QueueConfig::new("q")).unwrap();
    let hour = Duration::from_secs(3600);

    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.receive(10, hour).await.unwrap() }
    });
    tokio::task::yield_now().await;
    queue.send(Message::new("x")).unwrap();
    assert_eq!(waiting.await.unwrap().len(), 1);

    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.receive(10, hour).await.unwrap() }
    });
    tokio::task::yield_now().await;
    sqs.advance(Duration::from_secs(30));
    assert_eq!(waiting.await.unwrap()[0].receive_count, 2);
    sqs.stop().await;
}

#[tokio::test]
async fn curl_sends_and_looks_without_receiving() {
    let (sqs, _) = sqs().await;
    let queue = sqs.create_queue(QueueConfig::new("q.fifo")).unwrap();
    let url = format!("{}/queues/q.fifo", sqs.url());
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-message-group-id", "g"),
        ("x-message-deduplication-id", "d"),
        ("x-attribute-tenant", "t1"),
    ];

    let reply = send(Method::POST, format!("{url}/messages?Idempotency-Key=k%201"), &headers, r#"{"a":1}"#).await;

    assert_eq!(reply.status, 201, "{:?}", reply.body);
    let message = queue.messages().remove(0);
    assert_eq!((reply.json()["messageId"].as_str(), message.body.as_str()), (Some(message.id.as_str()), r#"{"a":1}"#));
    assert_eq!((message.group.as_deref(), message.deduplication_id.as_deref()), (Some("g"), Some("d")));
    assert_eq!((&message.attributes["tenant"], &message.attributes["Idempotency-Key"]), (&"t1".into(), &"k 1".into()));
    assert_eq!(message.state, MessageState::Visible);
    let reply = send(Method::GET, url.clone(), &[], "").await;
    assert_eq!(reply.json()["messages"], json!({ "visible": 1, "inFlight": 0, "delayed": 0 }));
    let reply = send(Method::GET, format!("{url}/messages"), &[], "").await;
    assert_eq!((&reply.json()[0]["receiveCount"], reply.header("content-type")), (&json!(0), Some("application/json")));
    let reply = send(Method::POST, format!("{}/queues/nowhere/messages", sqs.url()), &[], "x").await;
    assert_eq!(
        (reply.status.as_u16(), reply.json()["__type"].as_str()),
        (400, Some("com.amazonaws.sqs#QueueDoesNotExist"))
    );
    sqs.stop().await;
}
