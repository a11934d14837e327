//! Who invokes a function asynchronously, and where what Lambda gives up on goes.

use aws_sdk_lambda::{
    Client, error::ProvideErrorMetadata, operation::get_function_configuration::GetFunctionConfigurationOutput,
};
use serde_json::Value;

use super::finding::About;

/// The services that invoke asynchronously and stand in a function's policy ("Invoking Lambda with events from other AWS services"). Scheduler
/// and Pipes have roles instead, and are not seen there.
const ASYNCHRONOUS: [&str; 9] = [
    "cloudformation.amazonaws.com",
    "codecommit.amazonaws.com",
    "config.amazonaws.com",
    "events.amazonaws.com",
    "iot.amazonaws.com",
    "logs.amazonaws.com",
    "s3.amazonaws.com",
    "ses.amazonaws.com",
    "sns.amazonaws.com",
];

/// The services that a function's policy lets invoke it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Invokers(Vec<String>);

impl Invokers {
    /// Those that invoke asynchronously.
    pub(super) fn asynchronous(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).filter(|service| is_asynchronous(service)).collect()
    }

    /// Whether others invoke it, and nobody is known to do it asynchronously.
    pub(super) fn are_synchronous(&self) -> bool {
        !self.0.is_empty() && self.asynchronous().is_empty()
    }

    /// Reads a resource policy. What allows nobody by name (another account, a wildcard) is no service.
    fn of(policy: &str) -> Option<Self> {
        let policy: Value = serde_json::from_str(policy).ok()?;
        let mut services: Vec<String> = one_or_many(policy.get("Statement")?)
            .filter(|statement| statement.get("Effect").and_then(Value::as_str) == Some("Allow"))
            .filter_map(|statement| statement.pointer("/Principal/Service"))
            .flat_map(one_or_many)
            .filter_map(|service| service.as_str().map(str::to_owned))
            .collect();
        services.sort();
        services.dedup();
        Some(Self(services))
    }
}

/// `logs.eu-west-1.amazonaws.com` and the like name a region.
fn is_asynchronous(service: &str) -> bool {
    let name = service.split('.').next().unwrap_or_default();
    ASYNCHRONOUS.iter().any(|known| known.split('.').next() == Some(name))
}

/// A policy has one or a list of them (IAM User Guide, "Grammar of the IAM JSON policy language").
fn one_or_many(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}

/// Looks at who invokes the function, and says so if that cannot be seen.
pub(super) async fn look(client: &Client, name: &str, about: &mut About) -> Invokers {
    match client.get_policy().function_name(name).send().await {
        Ok(answer) => answer.policy().and_then(Invokers::of).unwrap_or_else(|| {
            about.unchecked(
                "who invokes it asynchronously: its policy cannot be read",
                "look at the function's permissions",
            );
            Invokers::default()
        }),
        // A function without a policy.
        Err(error) if error.code() == Some("ResourceNotFoundException") => Invokers::default(),
        Err(error) => {
            about.unanswered("who invokes it asynchronously", error.code(), "lambda:GetPolicy");
            Invokers::default()
        }
    }
}

/// Whether what Lambda gives up on is kept.
pub(super) async fn given_up(
    client: &Client,
    name: &str,
    function: &GetFunctionConfigurationOutput,
    invokers: &Invokers,
    about: &mut About,
) {
    let dead_letters =
        function.dead_letter_config().and_then(|config| config.target_arn()).filter(|arn| !arn.is_empty());
    let destination = match client.get_function_event_invoke_config().function_name(name).send().await {
        Ok(config) => {
            let on_failure = config.destination_config().and_then(|config| config.on_failure());
            on_failure.and_then(|on_failure| on_failure.destination()).map(str::to_owned)
        }
        // A function without one.
        Err(error) if error.code() == Some("ResourceNotFoundException") => None,
        Err(error) if dead_letters.is_none() => {
            let what = "where events that Lambda gives up on go";
            return about.unanswered(what, error.code(), "lambda:GetFunctionEventInvokeConfig");
        }
        Err(_) => None,
    };
    kept(destination.as_deref().or(dead_letters), invokers, about);
}

fn kept(to: Option<&str>, invokers: &Invokers, about: &mut About) {
    let services = invokers.asynchronous();
    match (to, services.is_empty()) {
        (Some(arn), _) => {
            about.ok(format!("events that Lambda gives up on go to {}", arn.rsplit(':').next().unwrap_or(arn)))
        }
        (None, false) => about.problem(
            format!("{} invokes it, and it has no destination on failure", services.join(", ")),
            "an event that fails three times, or is older than six hours, is deleted and told to nobody",
            "set EventInvokeConfig.DestinationConfig.OnFailure to a queue",
        ),
        (None, true) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operate::doctor::finding::Level;

    fn statement(service: Value) -> Value {
        json!({ "Effect": "Allow", "Action": "lambda:InvokeFunction", "Principal": { "Service": service } })
    }

    fn of(statements: Value) -> Invokers {
        Invokers::of(&json!({ "Version": "2012-10-17", "Statement": statements }).to_string()).unwrap()
    }

    #[test]
    fn a_policy_tells_which_services_invoke_and_how() {
        let api = of(json!([statement(json!("apigateway.amazonaws.com"))]));
        assert!(api.are_synchronous() && api.asynchronous().is_empty());
        let both = of(json!([
            statement(json!("apigateway.amazonaws.com")),
            statement(json!(["events.amazonaws.com", "logs.eu-west-1.amazonaws.com"])),
            statement(json!("events.amazonaws.com")),
        ]));
        assert_eq!(both.asynchronous(), ["events.amazonaws.com", "logs.eu-west-1.amazonaws.com"]);
        assert!(!both.are_synchronous());
        let single = of(statement(json!("sns.amazonaws.com")));
        assert_eq!(single.asynchronous(), ["sns.amazonaws.com"]);
        let denied = json!({ "Effect": "Deny", "Principal": { "Service": "s3.amazonaws.com" } });
        let account = json!({ "Effect": "Allow", "Principal": { "AWS": "arn:aws:iam::1:root" } });
        let nobody = of(json!([denied, account, { "Effect": "Allow", "Principal": "*" }]));
        assert_eq!(nobody, Invokers::default());
        assert!(!nobody.are_synchronous());
        assert_eq!((Invokers::of("{}"), Invokers::of("no policy")), (None, None));
    }

    #[test]
    fn what_an_asynchronous_function_gives_up_on_has_a_place() {
        let events = of(json!([statement(json!("events.amazonaws.com"))]));
        let level = |to, invokers: &Invokers| {
            let mut about = About::new("function");
            kept(to, invokers, &mut about);
            about.into_findings().first().map(|finding| finding.level)
        };
        let queue = Some("arn:aws:sqs:r:1:dead-letters");
        assert_eq!(level(queue, &events), Some(Level::Ok));
        assert_eq!(level(None, &events), Some(Level::Problem));
        assert_eq!(level(None, &Invokers::default()), None);
    }
}
