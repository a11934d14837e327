//! What the function needs, from its environment.

use std::{collections::BTreeMap, env};

use idempotency_core::Namespace;
use lambda_idempotency::{Idempotency, sdk_config_from_env};
use lambda_runtime::Error;

use crate::{
    bus::Bus,
    known::Known,
    marks::Marks,
    predecessors::Predecessors,
    queues::Queues,
    relay::App,
    routes::{BUS, QUEUES, Routes},
};

/// # Errors
///
/// When a variable is missing or has a value that means nothing: the function does not start then.
pub(crate) async fn app_from_env() -> Result<App, Error> {
    let required = |name| variable(name).ok_or_else(|| format!("environment variable {name} is not set"));
    let table = required(Idempotency::TABLE)?;
    let namespace = Namespace::new(required(Idempotency::NAMESPACE)?)?;
    let (bus, queues) = (variable(BUS), variable(QUEUES).map(|text| queues(&text)).transpose()?);
    if bus.is_none() && queues.is_none() {
        return Err(format!("environment variable {BUS} or {QUEUES} must be set: there is nowhere to send to").into());
    }
    let aws = sdk_config_from_env().await;
    let dynamodb = aws_sdk_dynamodb::Client::new(&aws);
    Ok(App {
        namespace,
        routes: Routes {
            bus: bus.map(|name| Bus::new(aws_sdk_eventbridge::Client::new(&aws), name)),
            queues: Queues::new(aws_sdk_sqs::Client::new(&aws), queues.unwrap_or_default()),
        },
        predecessors: Predecessors::new(dynamodb.clone(), table.clone()),
        marks: Marks::new(dynamodb, table),
        known: Known::default(),
    })
}

/// Names and URLs.
fn queues(text: &str) -> Result<BTreeMap<String, String>, Error> {
    let queues: BTreeMap<String, String> = serde_json::from_str(text).map_err(|error| {
        format!("environment variable {QUEUES} must be a JSON object of queues' names and URLs: {error}")
    })?;
    match queues.iter().find(|(_, url)| !url.starts_with("https://") && !url.starts_with("http://")) {
        Some((name, _)) => Err(format!("environment variable {QUEUES}: the URL of {name:?} is none").into()),
        None => Ok(queues),
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_names_and_urls() {
        assert_eq!(queues(r#"{"a": "https://sqs/1/a"}"#).unwrap().into_keys().collect::<Vec<_>>(), ["a"]);
        for text in ["https://sqs/1/a", r#"["a"]"#, r#"{"a": 1}"#, r#"{"a": "a"}"#] {
            let told = queues(text).unwrap_err().to_string();
            assert!(told.contains(QUEUES), "{told}");
        }
    }
}
