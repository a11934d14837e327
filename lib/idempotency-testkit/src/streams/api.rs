//! DynamoDB Streams on the wire. The records of `GetRecords` are those of Lambda's events but for a member, so they are taken as JSON.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::StreamError;
use crate::local::{ACCESS_KEY_ID, REGION};

/// Longer than a local engine needs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The engine.
#[derive(Debug)]
pub(super) struct StreamsApi {
    client: Client<HttpConnector, Full<Bytes>>,
    endpoint: Uri,
}

/// A shard, as `DescribeStream` tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shard {
    pub(super) id: String,
    pub(super) parent: Option<String>,
}

/// What one read gave: records, and where the next one begins. The end of a closed shard has no next.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) records: Vec<Value>,
    pub(super) next: Option<String>,
}

impl StreamsApi {
    pub(super) fn new(endpoint_url: &str) -> Result<Self, StreamError> {
        let endpoint: Option<Uri> = endpoint_url.parse().ok();
        let endpoint = endpoint.filter(|uri| uri.scheme_str() == Some("http") && uri.authority().is_some());
        let endpoint = endpoint.ok_or_else(|| StreamError::Endpoint { url: endpoint_url.to_owned() })?;
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(HttpConnector::new()), endpoint })
    }

    /// The ARN of a table's stream.
    pub(super) async fn stream_of(&self, table: &str) -> Result<String, StreamError> {
        let described = self.call("DynamoDB_20120810", "DescribeTable", &json!({ "TableName": table })).await?;
        let table_of = |pointer| described.pointer(pointer);
        let is_on = table_of("/Table/StreamSpecification/StreamEnabled").and_then(Value::as_bool) == Some(true);
        let arn = table_of("/Table/LatestStreamArn").and_then(Value::as_str).filter(|_| is_on);
        arn.map(str::to_owned).ok_or_else(|| StreamError::NoStream { table: table.to_owned() })
    }

    /// The stream's shards, parents before their children.
    pub(super) async fn shards(&self, stream_arn: &str) -> Result<Vec<Shard>, StreamError> {
        let (mut shards, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut request = json!({ "StreamArn": stream_arn });
            if let (Some(members), false) = (request.as_object_mut(), after.is_null()) {
                members.insert("ExclusiveStartShardId".to_owned(), after);
            }
            let described = self.call(STREAMS, "DescribeStream", &request).await?;
            let description = described.get("StreamDescription").unwrap_or(&Value::Null);
            let listed = description.get("Shards").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            shards.extend(listed.iter().filter_map(|shard| {
                let text = |name| shard.get(name).and_then(Value::as_str).map(str::to_owned);
                Some(Shard { id: text("ShardId")?, parent: text("ParentShardId") })
            }));
            after = description.get("LastEvaluatedShardId").cloned().unwrap_or_default();
            if after.is_null() {
                return Ok(shards);
            }
        }
    }

    /// Where to read on: after this record, or from the shard's beginning.
    pub(super) async fn iterator(&self, stream: &str, shard: &str, after: Option<&str>) -> Result<String, StreamError> {
        let request = match after {
            Some(after) => json!({
                "StreamArn": stream, "ShardId": shard,
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after,
            }),
            None => json!({ "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" }),
        };
        let answer = self.call(STREAMS, "GetShardIterator", &request).await?;
        let iterator = answer.get("ShardIterator").and_then(Value::as_str).map(str::to_owned);
        iterator.ok_or(StreamError::Engine { operation: "GetShardIterator", told: "there is no iterator".to_owned() })
    }

    pub(super) async fn records(&self, iterator: &str) -> Result<Page, StreamError> {
        let mut answer = self.call(STREAMS, "GetRecords", &json!({ "ShardIterator": iterator })).await?;
        let records = answer.get_mut("Records").map(Value::take);
        let next = answer.get("NextShardIterator").and_then(Value::as_str).map(str::to_owned);
        let records = if let Some(Value::Array(records)) = records { records } else { Vec::new() };
        Ok(Page { records, next })
    }

    async fn call(&self, service: &str, operation: &'static str, body: &Value) -> Result<Value, StreamError> {
        let told = |told: String| StreamError::Engine { operation, told };
        // Local engines want a signature and verify none.
        let signature = format!(
            "AWS4-HMAC-SHA256 Credential={ACCESS_KEY_ID}/20261001/{REGION}/dynamodb/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature=0000"
        );
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.endpoint)
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("{service}.{operation}"))
            .header("x-amz-date", "20261001T000000Z")
            .header("authorization", signature)
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| told(error.to_string()))?;
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|error| told(error.to_string()))?;
            let status = answer.status();
            let body = answer.into_body().collect().await.map_err(|error| told(error.to_string()))?.to_bytes();
            if !status.is_success() {
                return Err(told(format!("{status}: {}", String::from_utf8_lossy(&body))));
            }
            serde_json::from_slice(&body).map_err(|error| told(error.to_string()))
        };
        timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err(told("there was no answer in time".to_owned())))
    }
}

const STREAMS: &str = "DynamoDBStreams_20120810";
