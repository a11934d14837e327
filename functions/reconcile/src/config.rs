//! What the function needs, from its environment.

use std::{env, num::NonZeroU32, time::Duration};

use aws_sdk_dynamodb::Client;
use idempotency_core::Namespace;
use idempotency_dynamodb::{DynamoDbStore, sdk_config_from_env};
use lambda_idempotency::{Idempotency, metrics};
use lambda_runtime::Error;

use crate::{
    effect_table::{EffectTable, effect_tables},
    metric,
    run::App,
    storage::Storage,
};

const REPORT_URL: &str = "REPORT_URL";
const EFFECT_TABLES: &str = "EFFECT_TABLES";
const REMEMBERED_FOR_HOURS: &str = "REMEMBERED_FOR_HOURS";
const SEGMENTS: &str = "SEGMENTS";
const READ_UNITS_PER_SECOND: &str = "READ_UNITS_PER_SECOND";

/// What is looked for, and with how much of everything.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) namespace: Namespace,
    pub(crate) effects: Vec<EffectTable>,
    pub(crate) remembered_for: Duration,
    pub(crate) segments: u32,
    pub(crate) read_units_per_second: Option<NonZeroU32>,
    /// How many bytes of entries may be in memory.
    pub(crate) memory: usize,
}

/// # Errors
///
/// When a variable is missing or has a value that means nothing: the function does not start then.
pub(crate) async fn app_from_env() -> Result<App, Error> {
    // `object_store` makes a `reqwest` client, which takes the process's choice.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let required =
        |name, purpose| variable(name).ok_or_else(|| format!("environment variable {name} is not set: {purpose}"));
    let table = required(Idempotency::TABLE, "set it to the name of the idempotency table")?;
    let namespace = Namespace::new(required(Idempotency::NAMESPACE, "set it to the name of this deployment")?)?;
    let url = required(REPORT_URL, "set it to where reports are kept, such as s3://bucket/prefix")?;
    let storage = Storage::at(&url).map_err(|error| format!("environment variable {REPORT_URL}: {error}"))?;
    let effects = effect_tables(&variable(EFFECT_TABLES).unwrap_or_else(|| "[]".to_owned()))
        .map_err(|error| format!("environment variable {EFFECT_TABLES}: {error}"))?;
    let hours = number(REMEMBERED_FOR_HOURS, 48, 1..=24 * 366)?;
    let segments = number(SEGMENTS, 4, 1..=64)?;
    let read_units_per_second = NonZeroU32::new(number(READ_UNITS_PER_SECOND, 0, 0..=u32::MAX)?);
    metrics::install_from_env(&namespace)?;
    metric::describe();
    let client = Client::new(&sdk_config_from_env().await);
    let settings = Settings {
        namespace,
        effects,
        remembered_for: Duration::from_secs(u64::from(hours) * 3600),
        segments,
        read_units_per_second,
        memory: memory(),
    };
    Ok(App { store: DynamoDbStore::new(client, table), storage, settings })
}

/// A quarter of the function's memory: entries take it once while they are gathered or compared, and once more while they are encoded.
fn memory() -> usize {
    let megabytes = variable("AWS_LAMBDA_FUNCTION_MEMORY_SIZE").and_then(|text| text.parse::<usize>().ok());
    megabytes.unwrap_or(512).saturating_mul(1024 * 1024 / 4)
}

fn number(name: &str, default: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32, Error> {
    let Some(text) = variable(name) else { return Ok(default) };
    text.trim().parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        format!(
            "environment variable {name} is {text:?}; it must be a number from {} to {}",
            range.start(),
            range.end()
        )
        .into()
    })
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}
