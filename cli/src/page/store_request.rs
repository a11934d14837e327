//! Which requests to the store claim a key, and which end an operation.

use idempotency_core::Status;
use idempotency_testkit::fault_proxy::ProxiedRequest;
use serde_json::Value;

use crate::Stack;

/// What a request to the store does to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Write {
    /// It claims a key.
    Claim,
    /// It stores that an operation has ended.
    Completion,
}

impl Write {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Completion => "completion",
        }
    }

    /// Whether a request, or one of its members, is such a write.
    pub(super) fn is(self, request: &ProxiedRequest) -> bool {
        let body = &request.body;
        match &*request.operation {
            "PutItem" => request.table.as_deref() == Some(Stack::TABLE) && self.is_item(body.get("Item")),
            "TransactWriteItems" => members(body, "TransactItems").iter().any(|member| {
                let put = member.get("Put");
                let table = put.and_then(|put| put.get("TableName")).and_then(Value::as_str);
                table == Some(Stack::TABLE) && self.is_item(put.and_then(|put| put.get("Item")))
            }),
            "BatchExecuteStatement" => members(body, "Statements").iter().any(|statement| {
                let text = statement.get("Statement").and_then(Value::as_str).unwrap_or_default();
                let is_write = text.starts_with("INSERT") || text.starts_with("UPDATE");
                // What is set stands before what is expected.
                let statuses = members(statement, "Parameters").iter().filter_map(|parameter| status(Some(parameter)));
                is_write && text.contains(Stack::TABLE) && statuses.take(1).any(|status| self.leaves(status))
            }),
            _ => false,
        }
    }

    fn is_item(self, item: Option<&Value>) -> bool {
        status(item.and_then(|item| item.get("status"))).is_some_and(|status| self.leaves(status))
    }

    fn leaves(self, status: Status) -> bool {
        match self {
            Self::Claim => status == Status::InFlight,
            Self::Completion => status.is_terminal(),
        }
    }
}

fn members<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn status(attribute: Option<&Value>) -> Option<Status> {
    Status::from_stored(attribute?.get("S")?.as_str()?).ok()
}
