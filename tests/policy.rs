//! What `template.yaml` lets a function ask for, decided as IAM decides it: a statement allows a call if its actions, its resources and all
//! its conditions do. There are no denials.

use std::collections::BTreeSet;

use idempotency_testkit::fault_proxy::RecordedRequest;
use serde_json::{Value, json};

use crate::{
    call::{Call, calls},
    template::Template,
};

/// What a function may ask for by itself: its role's policy `calls`.
pub(crate) struct Policy {
    template: Template,
    function: String,
    statements: Vec<Statement>,
}

struct Statement {
    actions: Vec<String>,
    resources: Vec<String>,
    conditions: Vec<Condition>,
}

/// One key under one operator, such as `ForAllValues:StringLike` and `dynamodb:LeadingKeys`.
struct Condition {
    operator: String,
    key: String,
    values: Vec<String>,
}

/// What a statement allows: one of its actions on one of its resources, and one of the partition keys that it names, if it does.
type Grant = (usize, String, String, Option<String>);

/// The operators' values are of the partition key.
const LEADING_KEYS: &str = "dynamodb:LeadingKeys";

impl Policy {
    /// The policy of the function of this name in the template, in the local stack.
    pub(crate) fn of(function: &str) -> Self {
        Self::with(function, &[])
    }

    /// The same in a stack of these parameters.
    pub(crate) fn with(function: &str, parameters: &[(&str, Value)]) -> Self {
        let template = Template::with(parameters);
        let role = template.properties(&format!("{function}Role"));
        let policy = role["Policies"].as_array().unwrap().iter().find(|policy| policy["PolicyName"] == "calls");
        let statements = policy.unwrap()["PolicyDocument"]["Statement"].as_array().unwrap();
        let statements = statements.iter().map(Statement::read).collect();
        Self { template, function: function.to_owned(), statements }
    }

    /// Asserts that all that the function has asked for is allowed; and that it was asked for these operations, so that there is
    /// something to see.
    pub(crate) fn assert_allows(&self, requests: &[RecordedRequest], among: &[&str]) {
        self.used(requests);
        let asked: BTreeSet<_> = requests.iter().map(|request| request.operation.as_str()).collect();
        for operation in among {
            assert!(asked.contains(operation), "{operation} is not among {asked:?}");
        }
    }

    /// Asserts that all that the function has asked for is allowed, and that nothing is allowed that it has not asked for.
    pub(crate) fn assert_is_exactly(&self, requests: &[RecordedRequest]) {
        self.assert_are_exactly(requests.iter().map(|request| (request.operation.clone(), request.body.clone())));
    }

    /// The same for operations and bodies, of which some are of another service.
    pub(crate) fn assert_are_exactly(&self, requests: impl IntoIterator<Item = (String, Value)>) {
        let used = requests.into_iter().flat_map(|(operation, body)| self.used_by(&operation, &body));
        let used: BTreeSet<_> = used.flat_map(|used| used.unwrap_or_else(|call| self.denied(&call))).collect();
        let unused: Vec<_> = self.grants().difference(&used).cloned().collect();
        assert!(unused.is_empty(), "{} never needs {unused:#?}", self.function);
    }

    fn denied(&self, call: &Call) -> ! {
        panic!("{} may not {call:#?}", self.function)
    }

    /// Everything that is allowed.
    fn grants(&self) -> BTreeSet<Grant> {
        let mut grants = BTreeSet::new();
        for (place, statement) in self.statements.iter().enumerate() {
            for (action, resource) in statement
                .actions
                .iter()
                .flat_map(|action| statement.resources.iter().map(move |resource| (action, resource)))
            {
                let keys = statement.leading_keys();
                let each = keys.iter().map(|key| Some(key.clone())).chain(keys.is_empty().then_some(None));
                grants.extend(each.map(|key| (place, action.clone(), resource.clone(), key)));
            }
        }
        grants
    }

    /// What of it allowed these requests. Panics at a request that nothing allows.
    fn used(&self, requests: &[RecordedRequest]) -> BTreeSet<Grant> {
        let used = requests.iter().flat_map(|request| self.used_by(&request.operation, &request.body));
        used.flat_map(|used| used.unwrap_or_else(|call| self.denied(&call))).collect()
    }

    /// What allows each call of a request; the call if nothing does.
    fn used_by(&self, operation: &str, body: &Value) -> Vec<Result<BTreeSet<Grant>, Call>> {
        let grants = self.grants();
        let used = calls(operation, body, &self.template).into_iter().map(|call| {
            let by = grants.iter().filter(|grant| self.statements[grant.0].allows(&call, grant));
            let by: BTreeSet<_> = by.cloned().collect();
            if by.is_empty() { Err(call) } else { Ok(by) }
        });
        used.collect()
    }
}

impl Statement {
    fn read(statement: &Value) -> Self {
        assert_eq!(statement["Effect"], "Allow");
        let conditions = statement["Condition"].as_object().into_iter().flatten().flat_map(|(operator, keys)| {
            keys.as_object().unwrap().iter().map(|(key, values)| Condition {
                operator: operator.clone(),
                key: key.clone(),
                values: texts(values),
            })
        });
        Self {
            actions: texts(&statement["Action"]),
            resources: texts(&statement["Resource"]),
            conditions: conditions.collect(),
        }
    }

    fn leading_keys(&self) -> Vec<String> {
        self.conditions
            .iter()
            .filter(|condition| condition.key == LEADING_KEYS)
            .flat_map(|condition| condition.values.clone())
            .collect()
    }

    /// Whether it allows a call by this grant of it.
    fn allows(&self, call: &Call, (_, action, resource, key): &Grant) -> bool {
        let is_of_key =
            key.as_ref().is_none_or(|pattern| call.values(LEADING_KEYS).iter().any(|value| is_like(pattern, value)));
        *action == call.action
            && is_like(resource, &call.resource)
            && is_of_key
            && self.conditions.iter().all(|condition| condition.holds(call))
    }
}

impl Condition {
    /// IAM User Guide, "Multivalued context keys": `ForAllValues` is met if each value of the request is among the policy's, and so if the
    /// request has none. "IAM JSON policy elements: Condition operators", `...IfExists`: met if the request has no such key. Another operator
    /// is not met then.
    fn holds(&self, call: &Call) -> bool {
        let asked = call.values(&self.key);
        let is_among = |matches: fn(&str, &str) -> bool| {
            asked.iter().all(|value| self.values.iter().any(|pattern| matches(pattern, value)))
        };
        match self.operator.as_str() {
            "ForAllValues:StringLike" => is_among(is_like),
            "ForAllValues:StringEquals" | "StringEqualsIfExists" => is_among(|pattern, value| pattern == value),
            "StringEquals" => !asked.is_empty() && is_among(|pattern, value| pattern == value),
            other => panic!("the operator {other} is not known here"),
        }
    }
}

/// `StringLike` and resources: `*` stands for any text. (`?` is in no policy here.)
fn is_like(pattern: &str, value: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == value };
    let Some(behind) = value.strip_prefix(start) else { return false };
    (0..=behind.len()).filter(|at| behind.is_char_boundary(*at)).any(|at| is_like(rest, &behind[at..]))
}

/// One text or some.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().unwrap().to_owned()).collect(),
        one => vec![one.as_str().unwrap().to_owned()],
    }
}

#[test]
fn a_pattern_stands_for_what_it_says() {
    for (pattern, value, is) in [
        ("dev#charge#v*#*", "dev#charge#v1#abc", true),
        ("dev#charge#v*#*", "dev#charge-back#v1#abc", false),
        ("dev#charge#v*#*", "prod#charge#v1#abc", false),
        ("dev#charge#v*#*", "dev#charge#v1", false),
        ("dev#*", "dev#", true),
        ("dev", "dev#", false),
        ("*", "", true),
    ] {
        assert_eq!(is_like(pattern, value), is, "{pattern} {value}");
    }
}

#[test]
fn a_request_is_denied_for_another_action_table_key_attribute_or_returned_value() {
    let key = |pk: &str| json!({ "pk": { "S": pk }, "sk": { "S": "claim" } });
    let item = |table: &str, pk: &str| json!({ "TableName": table, "Item": key(pk) });
    let mark = |attribute: &str, returned: &str| {
        json!({
            "TableName": "idempotency", "Key": key("local#transfer#v1#a"), "UpdateExpression": "SET #a = :a",
            "ConditionExpression": "attribute_exists(pk)", "ExpressionAttributeNames": { "#a": attribute }, "ReturnValues": returned,
        })
    };
    let statement = |text: &str, pk: &str| json!({ "Statements": [{ "Statement": text, "Parameters": [{ "N": "1" }, { "S": pk }] }] });
    let insert = r#"INSERT INTO "idempotency" VALUE {'attempt': ?, 'pk': ?}"#;
    let transaction = |pk: &str| {
        json!({ "TransactItems": [{ "Put": item("idempotency", pk) }, { "Update": {
        "TableName": "accounts", "Key": { "account_id": { "S": "a" } }, "UpdateExpression": "SET balance = :b" } }] })
    };
    let mine = "local#take-in-claim#v1#a";
    let batch = |keys: &[&str]| json!({ "RequestItems": { "idempotency": { "Keys": keys.iter().map(|pk| key(pk)).collect::<Vec<_>>() } } });
    for (function, operation, body, allowed) in [
        ("PaymentsApi", "PutItem", item("idempotency", "local#transfer#v1#a"), true),
        ("PaymentsApi", "PutItem", item("idempotency", "local#follow-order#v1#a"), false),
        ("PaymentsApi", "PutItem", item("idempotency", "prod#transfer#v1#a"), false),
        ("PaymentsApi", "DeleteItem", json!({ "TableName": "idempotency", "Key": key("local#transfer#v1#a") }), false),
        ("PaymentsApi", "TransactWriteItems", transaction("local#transfer#v1#a"), true),
        ("PaymentsApi", "TransactWriteItems", transaction(mine), false),
        ("OrderEvents", "TransactWriteItems", transaction("local#follow-order#v1#a"), false),
        ("ClaimsIntake", "BatchExecuteStatement", statement(insert, mine), true),
        ("ClaimsIntake", "BatchExecuteStatement", statement(insert, "local#transfer#v1#a"), false),
        ("OrderEvents", "BatchExecuteStatement", statement(insert, "local#follow-order#v1#a"), false),
        ("ClaimsIntake", "BatchGetItem", batch(&[mine, mine]), true),
        ("ClaimsIntake", "BatchGetItem", batch(&[mine, "local#transfer#v1#a"]), false),
        ("OutboxRelay", "UpdateItem", mark("sent_at", "NONE"), true),
        ("OutboxRelay", "UpdateItem", mark("status", "NONE"), false),
        ("OutboxRelay", "UpdateItem", mark("sent_at", "ALL_OLD"), false),
        ("OutboxRelay", "PutEvents", json!({ "Entries": [{ "EventBusName": "default" }] }), true),
        ("OutboxRelay", "PutEvents", json!({ "Entries": [{ "EventBusName": "other" }] }), false),
        ("OutboxRelay", "SendMessageBatch", json!({ "QueueUrl": "https://sqs/1/receipts" }), false),
    ] {
        let used = Policy::of(function).used_by(operation, &body);
        assert_eq!(used.iter().all(Result::is_ok), allowed, "{function} {operation} {body} {used:#?}");
    }
}
