//! What each source says about its records, and how it answers.

use idempotency_core::{IdempotencyKey, Operation};
use lambda_http::{Context, LambdaEvent};
use serde_json::{Value, json};

use super::*;
use crate::{
    events::{DeliveryError, Description, EventOperation, Outcome, Settled, Source},
    function::InvalidKey,
};

fn operation() -> EventOperation {
    EventOperation::new(Operation::declare("handle", 1))
}

fn records<Src: Source>(_: Src, event: Value) -> Vec<Src::Record>
where
    Src::Event: serde::de::DeserializeOwned,
{
    Src::records(LambdaEvent::new(serde_json::from_value(event).unwrap(), Context::default()))
}

fn describe<Src: Source>(source: Src, event: Value) -> Description
where
    Src::Event: serde::de::DeserializeOwned,
{
    Src::describe(records(source, event).first().unwrap(), &operation())
}

fn key(key: Option<Result<IdempotencyKey, InvalidKey>>) -> String {
    key.unwrap().unwrap().as_str().to_owned()
}

/// A message with one member changed.
fn message(path: &str, value: Value) -> Value {
    let mut event = json!({ "Records": [{
        "messageId": "m-1", "receiptHandle": "r", "body": "{}", "attributes": { "ApproximateReceiveCount": "1" },
        "messageAttributes": {}, "eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:eu-west-1:1:orders", "awsRegion": "eu-west-1",
    }] });
    let (parent, member) = path.rsplit_once('/').unwrap();
    event.pointer_mut(&format!("/Records/0{parent}")).unwrap()[member] = value;
    event
}

#[test]
fn a_message_is_known_by_its_id_and_by_the_key_that_travels_with_it() {
    let plain = describe(Sqs, message("/body", json!("{}")));
    assert_eq!((key(plain.platform), plain.propagated.is_none(), plain.is_redelivered), ("m-1".into(), true, false));
    assert_eq!(plain.group, None);
    assert!(describe(Sqs, message("/attributes/ApproximateReceiveCount", json!("2"))).is_redelivered);

    let attribute = |value: Value| describe(Sqs, message("/messageAttributes/idempotency-key", value)).propagated;
    assert_eq!(key(attribute(json!({ "stringValue": "k", "dataType": "String" }))), "k");
    assert!(matches!(attribute(json!({ "stringValue": "", "dataType": "String" })), Some(Err(InvalidKey::Text(_)))));
    let binary = json!({ "binaryValue": "a2V5", "dataType": "Binary" });
    assert_eq!(attribute(binary), Some(Err(InvalidKey::NoText)));
    assert!(describe(Sqs, message("/messageId", json!(null))).platform.is_none());
}

/// A FIFO message with this body and deduplication id, from this queue.
fn fifo(body: &str, id: &str, queue: &str) -> Description {
    of_group(body, id, queue, "g")
}

fn of_group(body: &str, id: &str, queue: &str, group: &str) -> Description {
    let attributes = json!({
        "MessageDeduplicationId": id, "MessageGroupId": group, "SequenceNumber": "1", "ApproximateReceiveCount": "1",
    });
    let mut event = message("/attributes", attributes);
    event["Records"][0]["body"] = json!(body);
    event["Records"][0]["eventSourceARN"] = json!(format!("arn:aws:sqs:eu-west-1:1:{queue}"));
    describe(Sqs, event)
}

#[test]
fn a_fifo_message_is_known_by_its_senders_deduplication_id_but_not_by_its_content() {
    let known = |body, id, queue| key(fifo(body, id, queue).platform);
    assert_eq!(known("1", "d", "a.fifo"), known("2", "d", "a.fifo"));
    assert_ne!(known("1", "d", "a.fifo"), known("1", "e", "a.fifo"));
    assert_ne!(known("1", "d", "a.fifo"), known("1", "d", "b.fifo"), "ids of two queues have nothing in common");
    assert_ne!(
        known("1", "d", "a.fifo"),
        key(of_group("1", "d", "a.fifo", "h").platform),
        "nor have ids of two groups"
    );
    assert_eq!(fifo("1", "d", "a.fifo").group.as_deref(), Some("g"));
    // The SHA-256 of "1": the same content may be meant twice, weeks apart.
    let of_content = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b";
    assert_eq!(known("1", of_content, "a.fifo"), "m-1");
    assert_ne!(known("2", of_content, "a.fifo"), "m-1");
}

#[test]
fn a_messages_queue_is_found_by_its_arn() {
    let url =
        |arn: Value| Sqs::receipt(&records(Sqs, message("/eventSourceARN", arn))[0]).map(|receipt| receipt.queue_url);
    assert_eq!(
        url(json!("arn:aws:sqs:eu-west-1:123456789012:orders")).unwrap(),
        "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"
    );
    let china = "https://sqs.cn-north-1.amazonaws.com.cn/1/orders.fifo";
    assert_eq!(url(json!("arn:aws-cn:sqs:cn-north-1:1:orders.fifo")).unwrap(), china);
    assert_eq!(url(json!("orders")), None);
    assert_eq!(url(json!(null)), None);
}

#[test]
fn a_fair_queues_groups_keep_no_order() {
    let attributes = json!({ "MessageGroupId": "tenant-7", "ApproximateReceiveCount": "1" });
    assert_eq!(describe(Sqs, message("/attributes", attributes)).group, None);
}

#[test]
fn a_kafka_record_is_known_by_its_offset_or_its_header() {
    let event = |headers: Value, offset: i64| {
        json!({ "eventSource": "aws:kafka", "bootstrapServers": "b:9092", "records": { "t-1": [
            { "topic": "t", "partition": 1, "offset": offset, "timestamp": 0, "value": "e30=", "headers": headers },
        ] } })
    };
    let plain = |offset| describe(Kafka, event(json!([]), offset));
    assert_eq!(key(plain(1).platform), key(plain(1).platform));
    assert_ne!(key(plain(1).platform), key(plain(2).platform));
    assert_eq!(plain(1).group.as_deref(), Some("t-1"));
    // "k", and bytes that are no text, as Java writes them.
    assert_eq!(key(describe(Kafka, event(json!([{ "Idempotency-Key": [107] }]), 1)).propagated), "k");
    let no_text = describe(Kafka, event(json!([{ "idempotency-key": [-1, -2] }]), 1));
    assert_eq!(no_text.propagated, Some(Err(InvalidKey::NoText)));
    let several = describe(Kafka, event(json!([{ "idempotency-key": [107] }, { "idempotency-key": [108] }]), 1));
    assert_eq!(several.propagated, Some(Err(InvalidKey::Several)));
}

#[test]
fn a_kafka_tombstone_is_null_and_values_are_decoded() {
    let event = |value: Value| {
        json!({ "records": { "t-1": [
            { "topic": "t", "partition": 1, "offset": 1, "timestamp": 0, "value": value, "headers": [] },
        ] } })
    };
    let bytes = |value| describe(Kafka, event(value)).payload.bytes().into_owned();
    assert_eq!(bytes(json!(null)), b"null");
    assert_eq!(bytes(json!("eyJhIjoxfQ==")), br#"{"a":1}"#);
    assert_eq!(bytes(json!("no base64!")), b"no base64!");
}

#[test]
fn partitions_of_an_event_have_an_order() {
    let record = |offset: i64| json!({ "topic": "t", "partition": 1, "offset": offset, "timestamp": 0, "headers": [] });
    let event = json!({ "records": { "t-2": [record(1)], "t-1": [record(7), record(8)], "t-10": [record(3)] } });
    let places = records(Kafka, event)
        .into_iter()
        .map(|delivery| (delivery.topic_partition.to_string(), delivery.record.offset));
    assert_eq!(
        places.collect::<Vec<_>>(),
        [("t-1".into(), 7), ("t-1".into(), 8), ("t-10".into(), 3), ("t-2".into(), 1)]
    );
}

#[test]
fn a_schedule_is_known_by_the_time_it_is_scheduled_for_and_by_no_attempt() {
    let own = |time: &str, execution: &str| {
        describe(Scheduler, json!({ "scheduleArn": "arn:s", "scheduledTime": time, "execution": execution })).platform
    };
    assert_eq!(key(own("18:59", "first")), key(own("18:59", "second")));
    assert_ne!(key(own("18:59", "first")), key(own("19:59", "first")));
    let of_a_rule = json!({ "id": "1", "time": "18:59", "resources": ["arn:rule"], "detail": {} });
    assert!(describe(Scheduler, of_a_rule).platform.unwrap().is_ok());
    // Without both there is no key, and nothing runs unprotected.
    for input in [json!({}), json!({ "scheduleArn": "arn:s" }), json!("text"), json!({ "time": "x", "resources": [] })]
    {
        assert!(describe(Scheduler, input).platform.is_none());
    }
}

#[test]
fn an_object_is_known_by_what_changed_it() {
    let event = |sequencer: &str, name: &str| {
        json!({ "Records": [{
            "eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": "eu-west-1", "eventTime": "2026-01-01T00:00:00.000Z", "eventName": name,
            "userIdentity": { "principalId": "p" }, "requestParameters": { "sourceIPAddress": "1.1.1.1" }, "responseElements": {},
            "s3": { "bucket": { "name": "b" }, "object": { "key": "o", "sequencer": sequencer } },
        }] })
    };
    let known = |sequencer, name| key(describe(S3, event(sequencer, name)).platform);
    assert_eq!(known("1", "ObjectCreated:Put"), known("1", "ObjectCreated:Put"));
    assert_ne!(known("1", "ObjectCreated:Put"), known("2", "ObjectCreated:Put"));
    assert_ne!(known("1", "ObjectCreated:Put"), known("1", "ObjectTagging:Put"));
}

#[test]
fn a_key_in_json_is_taken_out_of_what_is_read_and_compared() {
    let event = json!({ "id": "e-1", "detail-type": "t", "source": "s", "detail": { "idempotencyKey": "k", "a": 1 } });
    let described = describe(EventBridge, event);
    assert_eq!((key(described.propagated), key(described.platform)), ("k".into(), "e-1".into()));
    assert_eq!(described.payload.bytes(), br#"{"a":1}"#.as_slice());

    let mut context = Context::default();
    context.request_id = "request-1".into();
    let record = Invocation::records(LambdaEvent::new(json!({ "idempotencyKey": "k" }), context)).remove(0);
    let described = Invocation::describe(&record, &operation());
    assert_eq!((key(described.propagated), key(described.platform)), ("k".into(), "request-1".into()));
    assert_eq!(described.payload.bytes(), b"{}".as_slice());
}

#[test]
fn the_kind_of_an_event_is_part_of_its_fingerprint() {
    let fingerprint = |kind: &str, source: &str, detail: Value| {
        let event = json!({ "id": "e", "time": "2026-01-01T00:00:00Z", "detail-type": kind, "source": source, "detail": detail });
        let event = records(EventBridge, event).remove(0);
        let described = EventBridge::describe(&event, &operation());
        EventBridge::fingerprint(&event, &described.payload, &operation())
    };
    let paid = fingerprint("paid", "shop", json!({ "a": 1, "b": 2 }));
    assert_eq!(paid, fingerprint("paid", "shop", json!({ "b": 2.0, "a": 1 })));
    assert_ne!(paid, fingerprint("placed", "shop", json!({ "a": 1, "b": 2 })));
    assert_ne!(paid, fingerprint("paid", "till", json!({ "a": 1, "b": 2 })));
    assert_ne!(paid, fingerprint("paid", "shop", json!({ "a": 1 })));
}

#[test]
fn a_removal_is_read_from_the_old_item_and_keys_alone_from_the_keys() {
    let event = |change: Value| {
        let mut change = change;
        change["ApproximateCreationDateTime"] = json!(1_479_499_740);
        change["SizeBytes"] = json!(1);
        json!({ "Records": [{ "awsRegion": "r", "eventID": "e", "eventName": "REMOVE", "dynamodb": change }] })
    };
    let bytes =
        |change| String::from_utf8(describe(DynamoDbStream, event(change)).payload.bytes().into_owned()).unwrap();
    let (old, keys) = (json!({ "b": { "N": "2" }, "a": { "B": "AQI=" } }), json!({ "b": { "N": "2" } }));
    let new = json!({ "b": { "N": "3" } });
    assert_eq!(bytes(json!({ "Keys": keys, "OldImage": old, "NewImage": new })), r#"{"b":{"N":"3"}}"#, "a change");
    assert_eq!(bytes(json!({ "Keys": keys, "OldImage": old })), r#"{"a":{"B":"AQI="},"b":{"N":"2"}}"#);
    assert_eq!(bytes(json!({ "Keys": keys })), r#"{"b":{"N":"2"}}"#);
}

#[test]
fn insertion_change_and_removal_of_an_item_are_three_records_under_any_key() {
    let item = json!({ "id": { "S": "x" } });
    let fingerprint = |name: &str, old: Option<&Value>, new: Option<&Value>| {
        let change = json!({
            "ApproximateCreationDateTime": 1_479_499_740, "SizeBytes": 1, "Keys": item, "OldImage": old.unwrap_or(&json!({})),
            "NewImage": new.unwrap_or(&json!({})),
        });
        let event = json!({ "Records": [{ "awsRegion": "r", "eventID": "e", "eventName": name, "dynamodb": change }] });
        let record = records(DynamoDbStream, event).remove(0);
        let described = DynamoDbStream::describe(&record, &operation());
        DynamoDbStream::fingerprint(&record, &described.payload, &operation())
    };
    let insertion = fingerprint("INSERT", None, Some(&item));
    let change = fingerprint("MODIFY", Some(&item), Some(&item));
    let removal = fingerprint("REMOVE", Some(&item), None);
    assert!(insertion != change && change != removal && removal != insertion);
    assert_eq!(insertion, fingerprint("INSERT", None, Some(&item)));
}

#[test]
fn a_kafka_record_is_itself_however_its_servers_are_listed_and_another_in_a_topic_created_anew() {
    let known = |servers: &str, written: i64| {
        key(describe(
            Kafka,
            json!({ "bootstrapServers": servers, "records": { "t-1": [
            { "topic": "t", "partition": 1, "offset": 1, "timestamp": written, "headers": [] },
        ] } }),
        )
        .platform)
    };
    assert_eq!(known("a:9092,b:9092", 1), known("b:9092, a:9092", 1));
    assert_ne!(known("a:9092", 1), known("a:9092", 2));
}

#[test]
fn two_streams_with_the_same_numbers_share_no_record() {
    let known = |stream: &str| {
        key(describe(Kinesis, json!({ "Records": [{
            "eventID": "shardId-0:1", "eventSourceARN": stream,
            "kinesis": { "partitionKey": "p", "sequenceNumber": "1", "data": "e30=", "approximateArrivalTimestamp": 1.0 },
        }] })).platform)
    };
    assert_ne!(known("arn:aws:kinesis:eu-west-1:1:stream/a"), known("arn:aws:kinesis:eu-west-1:1:stream/b"));
}

#[test]
fn a_schedules_own_event_is_the_same_at_every_attempt() {
    let fingerprint = |id: &str, member: &str| {
        let mut input = json!({ "time": "18:59", "resources": ["arn:s"], "detail": {} });
        input[member] = json!(id);
        let described = Scheduler::describe(&input, &operation());
        Scheduler::fingerprint(&input, &described.payload, &operation())
    };
    assert_eq!(fingerprint("1", "id"), fingerprint("2", "id"));
    assert_ne!(fingerprint("1", "other"), fingerprint("2", "other"));
}

fn settled<R>(records: Vec<R>, done: &[bool]) -> Vec<Settled<R>> {
    let outcome = |is_done| if is_done { Outcome::Fresh } else { Outcome::Mismatch };
    let settle = |(record, is_done): (R, &bool)| Settled { record, outcome: outcome(*is_done), is_done: *is_done };
    records.into_iter().zip(done).map(settle).collect()
}

#[test]
fn a_report_names_only_ids_of_the_batch_and_never_an_empty_one() {
    let of = |id: Value, done| Sqs::respond(settled(records(Sqs, message("/messageId", id)), &[done]));
    let ids = |response: Result<aws_lambda_events::streams::SqsEventResponse, _>| -> Vec<_> {
        response.unwrap().batch_item_failures.into_iter().map(|failure| failure.item_identifier.unwrap()).collect()
    };
    assert_eq!(ids(of(json!("m-1"), false)), ["m-1"]);
    assert_eq!(ids(of(json!("m-1"), true)), [""; 0]);
    assert_eq!(ids(of(json!(null), true)), [""; 0]);
    for id in [json!(null), json!("")] {
        assert_eq!(of(id, false), Err(DeliveryError::NoIdentifier));
    }
}

#[test]
fn a_kafka_report_names_the_first_offset_of_each_partition() {
    let record = |offset: i64| json!({ "topic": "t", "partition": 1, "offset": offset, "timestamp": 0, "headers": [] });
    let event = json!({ "records": { "t-0": [record(1), record(2)], "t-1": [record(5), record(6), record(7)] } });
    let all = || records(Kafka, event.clone());
    let response = KafkaReporting::respond(settled(all(), &[true, true, true, false, false])).unwrap();
    assert_eq!(
        serde_json::to_value(&response).unwrap(),
        json!({ "batchItemFailures": [{ "itemIdentifier": { "partition": "t-1", "offset": 6 } }] })
    );
    let error = Kafka::respond(settled(all(), &[true, false, true, false, false])).unwrap_err();
    assert_eq!(error.to_string(), "3 of 5 records are not done, the first because of: mismatch");
    assert_eq!(lambda_http::lambda_runtime::Diagnostic::from(error).error_type, "Idempotency.mismatch");
    assert_eq!(Kafka::respond(settled(all(), &[true; 5])), Ok(()));
}
