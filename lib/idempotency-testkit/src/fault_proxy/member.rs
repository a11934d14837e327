//! One member of a batch that is refused where the others are applied. DynamoDB does this under load; no emulator does.

use bytes::Bytes;
use serde_json::{Value, json};

use super::ProxiedRequest;

/// A batch without one of its members.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WithoutMember {
    /// What goes on to DynamoDB; `None` when no member is left.
    pub(super) body: Option<Value>,
    removed: Removed,
}

#[derive(Debug, Clone, PartialEq)]
enum Removed {
    /// Of `BatchExecuteStatement`, at this place.
    Statement(usize),
    /// Of `BatchGetItem`: the table's part of the request, with this key alone.
    Key { table: String, part: Value },
}

impl WithoutMember {
    /// Takes the member at `place` out, counted round and round; `None` for a request without members.
    pub(super) fn of(request: &ProxiedRequest, place: usize) -> Option<Self> {
        let mut body = request.body.clone();
        let (removed, is_empty) = match request.operation.as_str() {
            "BatchExecuteStatement" => {
                let statements = body.get_mut("Statements")?.as_array_mut()?;
                let place = place.checked_rem(statements.len())?;
                statements.remove(place);
                (Removed::Statement(place), statements.is_empty())
            }
            "BatchGetItem" => {
                let (table, part) = body.get_mut("RequestItems")?.as_object_mut()?.iter_mut().next()?;
                let (table, mut alone) = (table.clone(), part.clone());
                let keys = part.get_mut("Keys")?.as_array_mut()?;
                let key = keys.remove(place.checked_rem(keys.len())?);
                *alone.get_mut("Keys")? = json!([key]);
                (Removed::Key { table, part: alone }, keys.is_empty())
            }
            _ => return None,
        };
        Some(Self { body: (!is_empty).then_some(body), removed })
    }

    /// DynamoDB's answer to the rest, with that of the removed member. A statement gets an error with this code.
    pub(super) fn answer(&self, rest: Option<&Bytes>, code: &str) -> Option<Value> {
        let empty = match &self.removed {
            Removed::Statement(_) => json!({ "Responses": [] }),
            Removed::Key { .. } => json!({ "Responses": {} }),
        };
        let mut answer: Value = rest.map_or(Some(empty), |rest| serde_json::from_slice(rest).ok())?;
        match &self.removed {
            Removed::Statement(place) => {
                let responses = answer.get_mut("Responses")?.as_array_mut()?;
                let error = json!({ "Error": { "Code": code, "Message": "refused (injected)" } });
                responses.insert((*place).min(responses.len()), error);
            }
            Removed::Key { table, part } => {
                answer.as_object_mut()?.insert("UnprocessedKeys".to_owned(), json!({ table: part }));
            }
        }
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(operation: &str, body: Value) -> ProxiedRequest {
        ProxiedRequest { operation: operation.into(), table: None, body }
    }

    fn bytes(value: &Value) -> Bytes {
        value.to_string().into()
    }

    #[test]
    fn a_statement_is_left_out_and_its_error_stands_in_its_place() {
        let batch = request("BatchExecuteStatement", json!({ "Statements": ["a", "b", "c"] }));
        // The fifth of three is the second.
        let without = WithoutMember::of(&batch, 4).unwrap();
        assert_eq!(without.body, Some(json!({ "Statements": ["a", "c"] })));
        let answer = without.answer(Some(&bytes(&json!({ "Responses": ["A", "C"] }))), "ThrottlingError").unwrap();
        let error = json!({ "Error": { "Code": "ThrottlingError", "Message": "refused (injected)" } });
        assert_eq!(answer, json!({ "Responses": ["A", error, "C"] }));

        let one = request("BatchExecuteStatement", json!({ "Statements": ["a"] }));
        let without = WithoutMember::of(&one, 0).unwrap();
        assert_eq!(without.body, None);
        assert_eq!(without.answer(None, "ThrottlingError"), Some(json!({ "Responses": [error] })));
    }

    #[test]
    fn a_key_is_left_out_and_told_to_be_unprocessed() {
        let batch = json!({ "RequestItems": { "t": { "Keys": [1, 2], "ConsistentRead": true } } });
        let without = WithoutMember::of(&request("BatchGetItem", batch), 0).unwrap();
        assert_eq!(without.body, Some(json!({ "RequestItems": { "t": { "Keys": [2], "ConsistentRead": true } } })));
        let rest = json!({ "Responses": { "t": [2] }, "UnprocessedKeys": {} });
        let unprocessed = json!({ "t": { "Keys": [1], "ConsistentRead": true } });
        assert_eq!(
            without.answer(Some(&bytes(&rest)), "ThrottlingError"),
            Some(json!({ "Responses": { "t": [2] }, "UnprocessedKeys": unprocessed }))
        );
    }

    #[test]
    fn a_request_without_members_is_left_alone() {
        assert_eq!(WithoutMember::of(&request("PutItem", json!({ "Item": {} })), 0), None);
        assert_eq!(WithoutMember::of(&request("BatchExecuteStatement", json!({ "Statements": [] })), 0), None);
    }
}
