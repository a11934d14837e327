//! What `template.yaml` allows a function to ask DynamoDB for.

use idempotency_cli::Stack;

const TEMPLATE: &str = include_str!("../template.yaml");

/// Asserts that all that the function has asked DynamoDB for is allowed to the resource of this name; and that it was asked for these,
/// so that there is something to see.
pub(crate) fn assert_allowed(stack: &Stack, resource: &str, among: &[&str]) {
    let (_, behind) = TEMPLATE.split_once(&format!("\n  {resource}:\n")).unwrap();
    let (function, _) = behind.split_once(&format!("\n  {resource}Logs:\n")).unwrap();
    let asked: Vec<_> = stack.proxy().requests().into_iter().map(|request| request.operation).collect();
    for operation in among {
        assert!(asked.iter().any(|asked| asked == operation), "{operation} is not among {asked:?}");
    }
    for operation in asked {
        let actions = match operation.as_str() {
            // IAM security policies with PartiQL for DynamoDB (Amazon DynamoDB Developer Guide).
            "BatchExecuteStatement" => vec!["PartiQLInsert", "PartiQLUpdate"],
            operation => vec![operation],
        };
        for action in actions {
            let name = format!("dynamodb:{action}");
            let is_there = |line: &str| line.split([' ', ',', '[', ']']).any(|word| word == name);
            assert!(function.lines().any(is_there), "{resource} may not {name}");
        }
    }
}
