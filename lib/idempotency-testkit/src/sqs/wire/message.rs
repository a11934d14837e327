//! Messages, one at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::fields::{Fields, invalid};
use crate::sqs::checksum::{md5_of_attributes, md5_of_body};
use crate::sqs::shared::Shared;
use crate::sqs::{AttributeValue, Message, MessageAttribute, Receipt, Received, Sent, SqsError};

pub(super) fn send(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    send_entry(shared, fields.queue()?, fields)
}

pub(super) fn send_entry(shared: &Shared, queue: &str, entry: &Fields) -> Result<Value, SqsError> {
    let message = read(entry)?;
    let sums = (md5_of_body(&message.body), md5_of_attributes(&message.attributes));
    let Sent { id, sequence_number } = shared.send(queue, message)?;
    let mut answer = json!({ "MessageId": id, "MD5OfMessageBody": sums.0 });
    for (name, value) in [("MD5OfMessageAttributes", sums.1), ("SequenceNumber", sequence_number)] {
        if let (Some(value), Some(answer)) = (value, answer.as_object_mut()) {
            answer.insert(name.to_owned(), value.into());
        }
    }
    Ok(answer)
}

/// A message of a request or of a batch's entry.
pub(super) fn read(fields: &Fields) -> Result<Message, SqsError> {
    let mut message = Message::new(fields.required("MessageBody")?);
    message.group = fields.text("MessageGroupId")?.map(str::to_owned);
    message.deduplication_id = fields.text("MessageDeduplicationId")?.map(str::to_owned);
    message.delay = fields.seconds("DelaySeconds")?;
    for (name, attribute) in fields.map("MessageAttributes")? {
        message = message.attribute(name, read_attribute(attribute)?);
    }
    Ok(message)
}

fn read_attribute(attribute: &Value) -> Result<MessageAttribute, SqsError> {
    let fields = Fields::of(attribute)?;
    let value = match (fields.text("StringValue")?, fields.text("BinaryValue")?) {
        (Some(text), None) => AttributeValue::Text(text.to_owned()),
        (None, Some(base64)) => {
            let bytes = STANDARD.decode(base64).map_err(|_| invalid("BinaryValue", "it must be base64"))?;
            AttributeValue::Binary(bytes.into())
        }
        _ => return Err(invalid("MessageAttributes", "an attribute has one of StringValue and BinaryValue")),
    };
    MessageAttribute::new(fields.required("DataType")?, value)
}

pub(super) async fn receive(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let queue = fields.queue()?;
    let most = fields.whole("MaxNumberOfMessages")?.unwrap_or(1);
    let most = usize::try_from(most).ok().filter(|most| (1..=10).contains(most));
    let most = most.ok_or(invalid("MaxNumberOfMessages", "it must be 1 to 10"))?;
    let wait = match fields.seconds("WaitTimeSeconds")? {
        Some(wait) if wait > Duration::from_secs(20) => return Err(invalid("WaitTimeSeconds", "it must be 0 to 20")),
        Some(wait) => wait,
        None => shared.look(queue, |queue, _| queue.config.receive_wait)?,
    };
    let timeout = fields.seconds("VisibilityTimeout")?;
    let received = shared.receive(queue, most, timeout, wait).await?;
    if received.is_empty() {
        return Ok(json!({}));
    }
    let messages: Vec<_> = received.iter().map(|message| show(message, fields)).collect();
    Ok(json!({ "Messages": messages }))
}

fn show(message: &Received, asked: &Fields) -> Value {
    let mut shown = Map::from_iter([
        ("MessageId".to_owned(), json!(message.id)),
        ("ReceiptHandle".to_owned(), json!(message.receipt.as_str())),
        ("MD5OfBody".to_owned(), json!(md5_of_body(&message.body))),
        ("Body".to_owned(), json!(message.body)),
    ]);
    // `AttributeNames` is the older name of the same list.
    let names = [asked.names("MessageSystemAttributeNames"), asked.names("AttributeNames")].concat();
    let mut system = message.system_attributes();
    system.retain(|name, _| names.contains(&"All") || names.contains(name));
    if !system.is_empty() {
        shown.insert("Attributes".to_owned(), json!(system));
    }
    let patterns = asked.names("MessageAttributeNames");
    let chosen: BTreeMap<_, _> = message.attributes.iter().filter(|(name, _)| matches(&patterns, name)).collect();
    if let Some(sum) = md5_of_attributes(chosen.iter().map(|(name, attribute)| (*name, *attribute))) {
        let attributes: Map<_, _> = chosen.into_iter().map(|(n, a)| (n.clone(), show_attribute(a))).collect();
        shown.insert("MD5OfMessageAttributes".to_owned(), sum.into());
        shown.insert("MessageAttributes".to_owned(), attributes.into());
    }
    shown.into()
}

/// "ReceiveMessage": a name, `All`, `.*`, or the beginning of names as `bar.*`.
fn matches(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix(".*") {
        Some(prefix) => name.starts_with(prefix),
        None => *pattern == "All" || *pattern == name,
    })
}

fn show_attribute(attribute: &MessageAttribute) -> Value {
    match attribute.value() {
        AttributeValue::Text(text) => json!({ "DataType": attribute.data_type(), "StringValue": text }),
        AttributeValue::Binary(bytes) => {
            json!({ "DataType": attribute.data_type(), "BinaryValue": STANDARD.encode(bytes) })
        }
    }
}

pub(super) fn delete(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    delete_entry(shared, fields.queue()?, fields)
}

pub(super) fn delete_entry(shared: &Shared, queue: &str, entry: &Fields) -> Result<Value, SqsError> {
    let receipt = Receipt::from_text(entry.required("ReceiptHandle")?);
    shared.queue(queue, |queue, now| queue.delete(&receipt, now))?;
    Ok(json!({}))
}

pub(super) fn change_visibility(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    change_entry(shared, fields.queue()?, fields)
}

pub(super) fn change_entry(shared: &Shared, queue: &str, entry: &Fields) -> Result<Value, SqsError> {
    let receipt = Receipt::from_text(entry.required("ReceiptHandle")?);
    let name = "VisibilityTimeout";
    let timeout = entry.seconds(name)?.ok_or(SqsError::MissingParameter { name })?;
    shared.queue(queue, |queue, now| queue.change_visibility(&receipt, timeout, now))?;
    Ok(json!({}))
}
