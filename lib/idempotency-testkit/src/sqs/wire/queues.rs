//! Queues: made, found, described, emptied.

use serde_json::{Value, json};
use uuid::Uuid;

use super::fields::{Fields, invalid};
use super::queue_attributes::{apply, describe};
use crate::sqs::shared::{Shared, arn};
use crate::sqs::{QueueConfig, SqsError};

pub(super) fn create(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let name = fields.required("QueueName")?;
    let mut config = QueueConfig::new(name);
    apply(&mut config, &fields.map("Attributes")?)?;
    shared.with(|account, now| account.create(config, now))?;
    Ok(json!({ "QueueUrl": shared.queue_url(name) }))
}

pub(super) fn delete(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let name = fields.queue()?;
    shared.with(|account, _| account.queue(name).map(|_| ()).map(|()| account.queues.remove(name)))?;
    Ok(json!({}))
}

pub(super) fn url(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let name = fields.required("QueueName")?;
    shared.look(name, |_, _| json!({ "QueueUrl": shared.queue_url(name) }))
}

pub(super) fn list(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let prefix = fields.text("QueueNamePrefix")?.unwrap_or_default();
    let names = shared.names().into_iter().filter(|name| name.starts_with(prefix));
    Ok(json!({ "QueueUrls": names.map(|name| shared.queue_url(&name)).collect::<Vec<_>>() }))
}

pub(super) fn purge(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    shared.queue(fields.queue()?, |queue, _| {
        queue.messages.clear();
        Ok(json!({}))
    })
}

pub(super) fn attributes(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let names = fields.names("AttributeNames");
    let mut attributes = shared.look(fields.queue()?, describe)?;
    attributes.retain(|name, _| names.contains(&"All") || names.contains(name));
    Ok(json!({ "Attributes": attributes }))
}

pub(super) fn set_attributes(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let mut config = shared.look(fields.queue()?, |queue, _| queue.config.clone())?;
    apply(&mut config, &fields.map("Attributes")?)?;
    shared.with(|account, _| account.configure(config))?;
    Ok(json!({}))
}

/// All at once: the task is done when its answer comes.
pub(super) fn start_move(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let source = name_of(fields.required("SourceArn")?)?;
    let target = fields.text("DestinationArn")?.map(name_of).transpose()?;
    shared.with(|account, now| account.redrive(source, target, || Uuid::new_v4().to_string(), now))?;
    Ok(json!({ "TaskHandle": Uuid::new_v4().simple().to_string() }))
}

/// The queue's name, from its ARN.
pub(super) fn name_of(queue_arn: &str) -> Result<&str, SqsError> {
    let name = queue_arn.rsplit(':').next().unwrap_or_default();
    if queue_arn == arn(name) { Ok(name) } else { Err(invalid("Arn", "it must be the ARN of a queue here")) }
}
