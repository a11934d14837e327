use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::sqs::SqsError;

/// The fields of a request, or of an entry of a batch.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn read(body: &[u8]) -> Result<Self, SqsError> {
        // Some clients send no body at all where nothing is asked for.
        let body = if body.is_empty() { b"{}" } else { body };
        serde_json::from_slice(body).map(Self).map_err(|_| invalid("body", "it must be a JSON object"))
    }

    pub(super) fn of(value: &Value) -> Result<Self, SqsError> {
        value.as_object().cloned().map(Self).ok_or(invalid("Entries", "an entry must be a JSON object"))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, SqsError> {
        let read = |value: &'_ Value| value.is_string();
        match self.get(name) {
            Some(value) if !read(value) => Err(invalid(name, "it must be a string")),
            value => Ok(value.and_then(Value::as_str)),
        }
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, SqsError> {
        self.text(name)?.ok_or(SqsError::MissingParameter { name })
    }

    /// The queue's name, from its URL.
    pub(super) fn queue(&self) -> Result<&str, SqsError> {
        let url = self.required("QueueUrl")?;
        Ok(url.rsplit('/').next().unwrap_or(url))
    }

    pub(super) fn whole(&self, name: &'static str) -> Result<Option<u64>, SqsError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or(invalid(name, "it must be a whole number that is not negative"))
    }

    pub(super) fn seconds(&self, name: &'static str) -> Result<Option<Duration>, SqsError> {
        Ok(self.whole(name)?.map(Duration::from_secs))
    }

    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn names(&self, name: &str) -> Vec<&str> {
        self.list(name).iter().filter_map(Value::as_str).collect()
    }

    pub(super) fn map(&self, name: &'static str) -> Result<BTreeMap<&str, &Value>, SqsError> {
        match self.get(name) {
            None => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => Ok(map.iter().map(|(name, value)| (name.as_str(), value)).collect()),
            Some(_) => Err(invalid(name, "it must be a JSON object")),
        }
    }
}

pub(super) const fn invalid(name: &'static str, why: &'static str) -> SqsError {
    SqsError::InvalidParameter { name, why }
}
