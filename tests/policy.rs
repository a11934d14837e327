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
