//! What `template.yaml` allows a function to ask DynamoDB for.

use idempotency_cli::Stack;
use idempotency_testkit::fault_proxy::RecordedRequest;

/// The actions of a transaction, and the permissions that they need.
const TRANSACTED: [(&str, &str); 4] =
    [("Put", "PutItem"), ("Update", "UpdateItem"), ("Delete", "DeleteItem"), ("ConditionCheck", "ConditionCheckItem")];

const TEMPLATE: &str = include_str!("../template.yaml");

/// Asserts that all that the function has asked DynamoDB for is allowed to the resource of this name; and that it was asked for these,
/// so that there is something to see.
pub(crate) fn assert_allowed(stack: &Stack, resource: &str, among: &[&str]) {
    assert_may(&stack.proxy().requests(), "dynamodb", resource, among);
}

/// The same for requests to any service, by the name that it has in actions.
pub(crate) fn assert_may(requests: &[RecordedRequest], service: &str, resource: &str, among: &[&str]) {
    let (_, behind) = TEMPLATE.split_once(&format!("\n  {resource}:\n")).unwrap();
    let (function, _) = behind.split_once(&format!("\n  {resource}Logs:\n")).unwrap();
    let asked: Vec<_> = requests.iter().map(|request| request.operation.as_str()).collect();
    for operation in among {
        assert!(asked.contains(operation), "{operation} is not among {asked:?}");
    }
    for request in requests {
        let actions = match request.operation.as_str() {
            // "Using IAM with DynamoDB transactions": what its actions would need alone.
            "TransactWriteItems" => {
                let actions = request.body["TransactItems"].as_array().unwrap().iter();
                let kinds = actions.flat_map(|action| action.as_object().unwrap().keys());
                kinds.map(|kind| TRANSACTED.iter().find(|(name, _)| name == kind).unwrap().1).collect()
            }
            // IAM security policies with PartiQL for DynamoDB (Amazon DynamoDB Developer Guide).
            "BatchExecuteStatement" => vec!["PartiQLInsert", "PartiQLUpdate"],
            // "Actions, resources, and condition keys for Amazon SQS" (Service Authorization Reference) has none for batches.
            "SendMessageBatch" => vec!["SendMessage"],
            operation => vec![operation],
        };
        for action in actions {
            let name = format!("{service}:{action}");
            let is_there = |line: &str| line.split([' ', ',', '[', ']']).any(|word| word == name);
            assert!(function.lines().any(is_there), "{resource} may not {name}");
        }
    }
}

/// Asserts that each request about a table of the function's own, alone or in a transaction, is among these; and that the template's
/// statement about that table, the only one of its name, allows them.
pub(crate) fn assert_allowed_on(stack: &Stack, table: &str, resource: &str, actions: &[&str]) {
    let mut asked: Vec<_> = stack.proxy().requests().iter().flat_map(|request| actions_on(request, table)).collect();
    asked.sort();
    asked.dedup();
    assert_eq!(asked, actions);
    let (statement, _) = TEMPLATE.split_once(&format!("Resource: !GetAtt {resource}.Arn")).unwrap();
    let statement = statement.rsplit("- Effect: Allow").next().unwrap();
    for action in asked {
        assert!(statement.contains(&format!("dynamodb:{action}")), "{resource} allows no {action}: {statement}");
    }
}

fn actions_on(request: &RecordedRequest, table: &str) -> Vec<String> {
    if request.operation != "TransactWriteItems" {
        return (request.body["TableName"] == *table).then(|| request.operation.clone()).into_iter().collect();
    }
    let actions = request.body["TransactItems"].as_array().unwrap().iter().flat_map(|item| item.as_object().unwrap());
    let here = actions.filter(|(_, action)| action["TableName"] == *table);
    here.map(|(kind, _)| TRANSACTED.iter().find(|(name, _)| name == kind).unwrap().1.to_owned()).collect()
}
