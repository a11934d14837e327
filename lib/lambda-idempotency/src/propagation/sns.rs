//! Messages that the AWS SDK publishes to SNS.

use aws_sdk_sns::{
    operation::publish::builders::PublishFluentBuilder,
    types::{MessageAttributeValue, builders::PublishBatchRequestEntryBuilder},
};
use idempotency_core::IdempotencyKey;

use super::{KEY_NAME, WithKey};

fn attribute(key: &IdempotencyKey) -> Option<MessageAttributeValue> {
    // Fails only without a type.
    MessageAttributeValue::builder().data_type("String").string_value(key.as_str()).build().ok()
}

impl WithKey for PublishFluentBuilder {
    fn idempotency_key(self, key: &IdempotencyKey) -> Self {
        match attribute(key) {
            Some(value) => self.message_attributes(KEY_NAME, value),
            None => self,
        }
    }
}

impl WithKey for PublishBatchRequestEntryBuilder {
    fn idempotency_key(self, key: &IdempotencyKey) -> Self {
        match attribute(key) {
            Some(value) => self.message_attributes(KEY_NAME, value),
            None => self,
        }
    }
}
