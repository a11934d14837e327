use http::request::Parts;
use serde_json::Value;

/// A request as a rule's predicate sees it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProxiedRequest {
    /// The operation from `X-Amz-Target`, such as `PutItem`; for a request that is not DynamoDB's, its method and path, such as
    /// `POST /v1/charges`.
    pub operation: String,
    /// The table, if the request names one. For a batch or a transaction it is the first one named.
    pub table: Option<String>,
    /// The decoded JSON body; `Null` if it is not JSON.
    pub body: Value,
}

impl ProxiedRequest {
    pub(super) fn read(head: &Parts, body: &[u8]) -> Self {
        let target = head.headers.get("x-amz-target").and_then(|value| value.to_str().ok());
        let operation = match target {
            Some(target) => target.rsplit('.').next().unwrap_or_default().to_owned(),
            None => format!("{} {}", head.method, head.uri.path()),
        };
        let body = serde_json::from_slice(body).unwrap_or(Value::Null);
        let table = table_of(&body);
        Self { operation, table, body }
    }
}

fn table_of(body: &Value) -> Option<String> {
    let direct = body.get("TableName").and_then(Value::as_str);
    // Each member of a transaction is {"Put": {"TableName": …}}, {"Get": …} and so on.
    let in_transaction = || {
        let member = body.get("TransactItems")?.get(0)?.as_object()?.values().next()?;
        member.get("TableName")?.as_str()
    };
    let in_batch = || body.get("RequestItems")?.as_object()?.keys().next().map(String::as_str);
    direct.or_else(in_transaction).or_else(in_batch).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_operation_comes_from_the_target_and_the_table_from_any_kind_of_body() {
        let (head, ()) =
            http::Request::post("/").header("x-amz-target", "DynamoDB_20120810.PutItem").body(()).unwrap().into_parts();
        for body in [
            json!({ "TableName": "t" }),
            json!({ "TransactItems": [{ "Put": { "TableName": "t" } }, { "Update": { "TableName": "u" } }] }),
            json!({ "RequestItems": { "t": [] } }),
        ] {
            let request = ProxiedRequest::read(&head, body.to_string().as_bytes());
            assert_eq!(request.operation, "PutItem");
            assert_eq!(request.table.as_deref(), Some("t"), "{body}");
        }
    }

    #[test]
    fn a_request_that_is_not_dynamodb_is_still_a_request() {
        let (head, ()) = http::Request::post("/v1/charges?x=1").body(()).unwrap().into_parts();
        let request = ProxiedRequest::read(&head, b"not json");

        assert_eq!(request, ProxiedRequest { operation: "POST /v1/charges".into(), table: None, body: Value::Null });
    }
}
