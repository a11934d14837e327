//! A function, and what invokes it.

use std::{collections::HashMap, time::Duration};

use aws_sdk_lambda::{
    Client,
    error::ProvideErrorMetadata,
    operation::get_function_configuration::GetFunctionConfigurationOutput,
    types::{EventSourceMappingConfiguration, FunctionResponseType},
};
use idempotency_core::Policy;
use lambda_idempotency::{Idempotency, Mode};

use super::{
    finding::{About, Finding},
    invokers::{self, Invokers},
};
use crate::operate::time::span;

/// When Lambda repeats a failed asynchronous invocation for the first time ("How Lambda handles errors and retries with asynchronous
/// invocation").
const FIRST_RETRY: Duration = Duration::from_secs(60);

/// What the function's environment should say.
pub(crate) struct Expected<'a> {
    pub(crate) table: &'a str,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) home_region: Option<&'a str>,
    /// The region of the table; `None` for a global one.
    pub(crate) only_region: Option<&'a str>,
}

/// What was found, and which queues invoke the function.
pub(crate) struct Looked {
    pub(crate) findings: Vec<Finding>,
    pub(crate) queues: Vec<Invoking>,
}

/// A queue that invokes a function.
pub(crate) struct Invoking {
    pub(crate) arn: String,
    pub(crate) function: String,
    pub(crate) timeout: Duration,
}

/// Looks at a function and its event source mappings.
pub(crate) async fn check(client: &Client, name: &str, expected: &Expected<'_>) -> Looked {
    let mut about = About::new(format!("function {name}"));
    let mut queues = Vec::new();
    match client.get_function_configuration().function_name(name).send().await {
        Ok(function) => {
            let timeout = timeout(&function);
            environment(&function, expected, &mut about);
            let invokers = invokers::look(client, name, &mut about).await;
            invokers::given_up(client, name, &function, &invokers, &mut about).await;
            match mappings(client, name).await {
                Ok(mappings) => {
                    lease(timeout, &invokers, !mappings.is_empty(), &mut about);
                    for mapping in &mappings {
                        look_at(mapping, &mut about);
                        let arn =
                            mapping.event_source_arn().filter(|arn| arn.starts_with("arn:") && arn.contains(":sqs:"));
                        queues.extend(arn.map(|arn| Invoking { arn: arn.into(), function: name.into(), timeout }));
                    }
                }
                Err(code) => {
                    about.unanswered("what invokes it", code.as_deref(), "lambda:ListEventSourceMappings");
                }
            }
        }
        Err(error) => match error.code() {
            Some("ResourceNotFoundException") => {
                about.problem(
                    "there is no such function",
                    "nothing else can be said of it",
                    "check the name and the region",
                );
            }
            code => about.unanswered("it", code, "lambda:GetFunctionConfiguration"),
        },
    }
    Looked { findings: about.into_findings(), queues }
}

async fn mappings(client: &Client, name: &str) -> Result<Vec<EventSourceMappingConfiguration>, Option<String>> {
    let pages = client.list_event_source_mappings().function_name(name).into_paginator().items().send();
    pages.collect::<Result<Vec<_>, _>>().await.map_err(|error| error.code().map(str::to_owned))
}

fn timeout(function: &GetFunctionConfigurationOutput) -> Duration {
    // Lambda's default ("Configure Lambda function timeout").
    Duration::from_secs(function.timeout().and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(3))
}

fn environment(function: &GetFunctionConfigurationOutput, expected: &Expected<'_>, about: &mut About) {
    let none = HashMap::new();
    let variables = function.environment().and_then(|environment| environment.variables()).unwrap_or(&none);
    // As functions read them: choices are trimmed, names are not.
    let value = |name: &str| variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty());
    let choice = |name: &str| value(name).map(str::trim);
    match value(Idempotency::TABLE) {
        Some(table) if table == expected.table => about.ok("it uses this table"),
        Some(table) => about.problem(
            format!("its {} is {table}", Idempotency::TABLE),
            "what you see here is not what it does",
            "look at that table, or correct the variable",
        ),
        None => about.problem(
            format!("it has no {}", Idempotency::TABLE),
            "it does not start",
            "set it to the table's name",
        ),
    }
    match (value(Idempotency::NAMESPACE), expected.namespace) {
        (None, _) => about.problem(format!("it has no {}", Idempotency::NAMESPACE), "it does not start", "set it"),
        (Some(namespace), Some(expected)) if namespace != expected => about.problem(
            format!("its {} is {namespace}, not {expected}", Idempotency::NAMESPACE),
            "its records are not found under the namespace that you say",
            format!("say --namespace {namespace}, or correct the variable"),
        ),
        (Some(namespace), _) => about.ok(format!("its namespace is {namespace}")),
    }
    match (choice(Idempotency::HOME_REGION), expected.home_region) {
        (None, None) => {}
        (Some(home), _) if expected.only_region.is_some_and(|region| region != home) => about.problem(
            format!(
                "its {} is {home}, and the table is in {}",
                Idempotency::HOME_REGION,
                expected.only_region.unwrap_or_default()
            ),
            "it claims no key there: every request is refused (421)",
            "remove the variable, for a table in one region needs no home; or name the table's region",
        ),
        (Some(home), Some(expected)) if home == expected => about.ok(format!("it claims keys in {home} only")),
        (Some(home), Some(expected)) => about.problem(
            format!("its {} is {home}, not {expected}", Idempotency::HOME_REGION),
            "regions that do not agree both claim one key, and both run, or none of them does",
            "set the variable to the same region in the functions of all regions",
        ),
        (None, Some(_)) => about.warn(
            format!("it has no {}", Idempotency::HOME_REGION),
            "unless its code calls with_home_region, it claims keys of other regions too",
            "set it, or see that the code does",
        ),
        (Some(home), None) => about.ok(format!("it claims keys in {home} only")),
    }
    match choice(Idempotency::MODE).map(|mode| (mode, mode.parse())) {
        None | Some((_, Ok(Mode::Enforce))) => {}
        Some((mode, Err(_))) => about.problem(
            format!("its {} is {mode}, which is no mode", Idempotency::MODE),
            "it does not start",
            "set it to enforce, shadow or off, or remove it",
        ),
        Some((mode, Ok(_))) => about.problem(
            format!("its {} is {mode}", Idempotency::MODE),
            "duplicates are not held back: every request runs",
            "remove the variable when the emergency is over",
        ),
    }
}

/// A lease is the timeout and a margin.
fn lease(timeout: Duration, invokers: &Invokers, has_mappings: bool, about: &mut About) {
    let lease = timeout + Policy::MARGIN;
    let told = format!("its timeout is {}, so a lost attempt keeps its key for {}", span(timeout), span(lease));
    let lost = "Lambda's first retry of an asynchronous invocation comes after a minute, finds the lost attempt's lease running, and is lost to a \
                conflict; one retry is left";
    match lease < FIRST_RETRY {
        true => about.ok(told),
        false if !invokers.asynchronous().is_empty() => about.warn(told, lost, "a timeout of 56 s or less"),
        false if has_mappings || invokers.are_synchronous() => about.ok(told),
        false => about.warn(told, lost, "if it is invoked asynchronously: a timeout of 56 s or less"),
    }
}

fn look_at(mapping: &EventSourceMappingConfiguration, about: &mut About) {
    let source = mapping.event_source_arn().unwrap_or("a source without an ARN");
    let name = source.rsplit([':', '/']).next().unwrap_or(source);
    let partial = mapping.function_response_types().contains(&FunctionResponseType::ReportBatchItemFailures);
    match partial {
        true => about.ok(format!("the mapping of {name} reports batch item failures")),
        false => about.problem(
            format!("the mapping of {name} does not report batch item failures"),
            "Lambda takes every answer for success: a message in conflict, or one that failed, is deleted and lost",
            "set FunctionResponseTypes: [ReportBatchItemFailures] on it",
        ),
    }
    if mapping.state().is_some_and(|state| state.starts_with("Disab")) {
        about.warn(
            format!("the mapping of {name} is disabled"),
            "nothing comes from there",
            "enable it, if that was not meant",
        );
    }
    let is_stream = [":dynamodb:", ":kinesis:"].iter().any(|service| source.contains(service));
    let has_dead_letters = mapping.destination_config().is_some_and(|config| config.on_failure().is_some());
    match (is_stream, has_dead_letters) {
        (true, false) => about.warn(
            format!("the mapping of {name} has no destination on failure"),
            "records that are given up are told to nobody",
            "set DestinationConfig.OnFailure to a queue",
        ),
        (true, true) => about.ok(format!("the mapping of {name} tells of what it gives up")),
        (false, _) => {}
    }
    if source.contains(":dynamodb:") && mapping.parallelization_factor().is_some_and(|factor| factor > 1) {
        about.warn(
            format!("the mapping of {name} has a parallelization factor above 1"),
            "events of one record may overtake each other",
            "leave ParallelizationFactor at 1 for the outbox's relay",
        );
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_lambda::types::{DestinationConfig, EnvironmentResponse, OnFailure};

    use super::*;
    use crate::operate::doctor::finding::Level;

    fn worst(look: impl FnOnce(&mut About)) -> Level {
        let mut about = About::new("function");
        look(&mut about);
        let levels: Vec<Level> = about.into_findings().into_iter().map(|finding| finding.level).collect();
        let worst = [Level::Problem, Level::Warn, Level::Ok].into_iter().find(|level| levels.contains(level));
        worst.unwrap_or(Level::Unchecked)
    }

    #[test]
    fn the_environment_names_this_table_and_namespace_and_no_mode_that_protects_nothing() {
        let at = |home_region, pairs: &[(&str, &str)]| {
            let variables = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let environment = EnvironmentResponse::builder().set_variables(Some(variables)).build();
            let function = GetFunctionConfigurationOutput::builder().environment(environment).build();
            let expected =
                Expected { table: "t", namespace: Some("prod"), home_region, only_region: Some("eu-west-1") };
            worst(|about| environment_of(&function, &expected, about))
        };
        let of = |pairs: &[(&str, &str)]| at(None, pairs);
        use environment as environment_of;
        let (table, namespace) = (("IDEMPOTENCY_TABLE", "t"), ("IDEMPOTENCY_NAMESPACE", "prod"));
        assert_eq!(of(&[table, namespace]), Level::Ok);
        assert_eq!(of(&[table, namespace, ("IDEMPOTENCY_MODE", " enforce")]), Level::Ok, "choices are trimmed");
        for wrong in [
            &[namespace][..],
            &[table],
            &[("IDEMPOTENCY_TABLE", "other"), namespace],
            &[table, ("IDEMPOTENCY_NAMESPACE", "dev")],
            &[table, namespace, ("IDEMPOTENCY_MODE", "shadow")],
            &[table, namespace, ("IDEMPOTENCY_MODE", "Shadow")],
            &[table, namespace, ("IDEMPOTENCY_HOME_REGION", "us-east-1")],
        ] {
            assert_eq!(of(wrong), Level::Problem, "{wrong:?}");
        }
        let home = ("IDEMPOTENCY_HOME_REGION", "eu-west-1");
        assert_eq!(at(Some("eu-west-1"), &[table, namespace, home]), Level::Ok);
        assert_eq!(at(None, &[table, namespace, ("IDEMPOTENCY_HOME_REGION", "eu-west-1 ")]), Level::Ok);
        assert_eq!(at(Some("eu-west-1"), &[table, namespace]), Level::Warn, "its code may say it");
        assert_eq!(at(Some("us-east-1"), &[table, namespace, home]), Level::Problem);
    }

    #[test]
    fn a_mapping_reports_item_failures_and_a_stream_tells_of_what_it_gives_up() {
        let mapping = |arn: &str| EventSourceMappingConfiguration::builder().event_source_arn(arn);
        let reports = FunctionResponseType::ReportBatchItemFailures;
        let (queue, stream) = ("arn:aws:sqs:r:1:q", "arn:aws:dynamodb:r:1:table/t/stream/s");
        let of = |mapping: EventSourceMappingConfiguration| worst(|about| look_at(&mapping, about));
        assert_eq!(of(mapping(queue).function_response_types(reports.clone()).build()), Level::Ok);
        assert_eq!(of(mapping(queue).build()), Level::Problem);
        let stream = mapping(stream).function_response_types(reports);
        assert_eq!(of(stream.clone().build()), Level::Warn);
        let told = DestinationConfig::builder().on_failure(OnFailure::builder().destination("arn").build()).build();
        let stream = stream.destination_config(told);
        assert_eq!(of(stream.clone().build()), Level::Ok);
        assert_eq!(of(stream.clone().parallelization_factor(2).build()), Level::Warn);
        assert_eq!(of(stream.state("Disabled").build()), Level::Warn);
    }

    #[test]
    fn an_asynchronous_functions_lease_is_over_before_the_first_retry() {
        let of = |seconds, has_mappings| {
            worst(|about| lease(Duration::from_secs(seconds), &Invokers::default(), has_mappings, about))
        };
        assert_eq!((of(56, false), of(57, false), of(57, true)), (Level::Ok, Level::Warn, Level::Ok));
    }
}
