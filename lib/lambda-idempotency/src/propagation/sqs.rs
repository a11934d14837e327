//! Messages that the AWS SDK sends to SQS.

use aws_sdk_sqs::{
    operation::send_message::builders::SendMessageFluentBuilder,
    types::{MessageAttributeValue, builders::SendMessageBatchRequestEntryBuilder},
};
use idempotency_core::IdempotencyKey;

use super::{KEY_NAME, WithKey};

fn attribute(key: &IdempotencyKey) -> Option<MessageAttributeValue> {
    // Fails only without a type.
    MessageAttributeValue::builder().data_type("String").string_value(key.as_str()).build().ok()
}

impl WithKey for SendMessageFluentBuilder {
    fn idempotency_key(self, key: &IdempotencyKey) -> Self {
        match attribute(key) {
            Some(value) => self.message_attributes(KEY_NAME, value),
            None => self,
        }
    }
}

impl WithKey for SendMessageBatchRequestEntryBuilder {
    fn idempotency_key(self, key: &IdempotencyKey) -> Self {
        match attribute(key) {
            Some(value) => self.message_attributes(KEY_NAME, value),
            None => self,
        }
    }
}
