//! The table: its keys, its time to live, its backups, its regions.

use aws_sdk_dynamodb::{
    Client,
    error::ProvideErrorMetadata,
    types::{
        BillingMode, KeyType, MultiRegionConsistency, PointInTimeRecoveryStatus, ScalarAttributeType, TableDescription,
        TimeToLiveDescription, TimeToLiveStatus,
    },
};
use idempotency_dynamodb::attribute;
use lambda_idempotency::Idempotency;

use super::finding::{About, Finding};
use crate::operate::error::OperateError;

/// Looks at the table, and says in which region it is if that is only one.
///
/// # Errors
///
/// When it cannot be described: then nothing else can be said.
pub(crate) async fn check(
    client: &Client,
    name: &str,
    home_region: Option<&str>,
) -> Result<(Vec<Finding>, Option<String>), OperateError> {
    let described = client.describe_table().table_name(name).send().await;
    let described = described.map_err(|error| OperateError::Aws {
        what: "the table cannot be described; check its name, the region, and the permission dynamodb:DescribeTable",
        source: aws_sdk_dynamodb::error::DisplayErrorContext(error).to_string().into(),
    })?;
    let Some(table) = described.table else {
        return Err(OperateError::usage(format!("there is no table {name}: say another with --table")));
    };
    let mut about = About::new(format!("table {name}"));
    keys(&table, &mut about);
    match client.describe_time_to_live().table_name(name).send().await {
        Ok(output) => time_to_live(output.time_to_live_description(), &mut about),
        Err(error) => about.unanswered("time to live", error.code(), "dynamodb:DescribeTimeToLive"),
    }
    match client.describe_continuous_backups().table_name(name).send().await {
        Ok(output) => recovery(
            output
                .continuous_backups_description()
                .and_then(|backups| backups.point_in_time_recovery_description())
                .and_then(|recovery| recovery.point_in_time_recovery_status()),
            &mut about,
        ),
        Err(error) => {
            about.unanswered("point-in-time recovery", error.code(), "dynamodb:DescribeContinuousBackups");
        }
    }
    capacity(&table, &mut about);
    protection(&table, &mut about);
    replicas(&table, home_region, &mut about);
    Ok((about.into_findings(), only_region(&table)))
}

/// The region of a table that has no replicas.
fn only_region(table: &TableDescription) -> Option<String> {
    let region = table.table_arn().and_then(|arn| arn.split(':').nth(3));
    region.filter(|region| table.replicas().is_empty() && !region.is_empty()).map(str::to_owned)
}

fn keys(table: &TableDescription, about: &mut About) {
    let is_key = |name: &str, kind: &KeyType| {
        let in_schema = table.key_schema().iter().any(|key| key.attribute_name() == name && key.key_type() == kind);
        let is_text = table.attribute_definitions().iter().any(|definition| {
            definition.attribute_name() == name && *definition.attribute_type() == ScalarAttributeType::S
        });
        in_schema && is_text
    };
    match is_key(attribute::PK, &KeyType::Hash) && is_key(attribute::SK, &KeyType::Range) {
        true => about.ok("its keys are pk (S) and sk (S)"),
        false => about.problem(
            "its keys are not the partition key pk (S) and the sort key sk (S)",
            "no record can be written or found",
            "make a table with these keys, as template.yaml does; keys of a table cannot be changed",
        ),
    }
}

fn time_to_live(described: Option<&TimeToLiveDescription>, about: &mut About) {
    let status = described.and_then(TimeToLiveDescription::time_to_live_status);
    let on = described.and_then(TimeToLiveDescription::attribute_name).unwrap_or_default();
    match status {
        Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling) if on == attribute::EXPIRES_AT => {
            about.ok("time to live is on, on expires_at");
        }
        Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling) => about.problem(
            format!("time to live is on the attribute {on:?}, which no record has"),
            "nothing is ever deleted: the table grows, and costs, for good",
            "switch it off, wait for an hour, and switch it on for expires_at",
        ),
        _ => about.problem(
            "time to live is off",
            "nothing is ever deleted: the table grows, and costs, for good (an expired key is new all the same)",
            "aws dynamodb update-time-to-live --table-name NAME --time-to-live-specification Enabled=true,AttributeName=expires_at",
        ),
    }
}

fn recovery(status: Option<&PointInTimeRecoveryStatus>, about: &mut About) {
    match status {
        Some(PointInTimeRecoveryStatus::Enabled) => about.ok("point-in-time recovery is on"),
        _ => about.warn(
            "point-in-time recovery is off",
            "if records are lost, every request that callers repeat has its effect again",
            "switch it on. Mind that a table which was restored to an earlier point has forgotten what was done since",
        ),
    }
}

fn capacity(table: &TableDescription, about: &mut About) {
    let mode = table.billing_mode_summary().and_then(|summary| summary.billing_mode());
    match mode {
        Some(BillingMode::PayPerRequest) => about.ok("it is billed on demand"),
        _ => about.warn(
            "its capacity is provisioned",
            "a throttled store turns requests away (503): the handler does not run unprotected",
            "switch to on demand, or provision for the peaks: two write units for a request, one for a duplicate (see `estimate`)",
        ),
    }
}

fn protection(table: &TableDescription, about: &mut About) {
    match table.deletion_protection_enabled() {
        Some(true) => about.ok("it is protected against deletion"),
        _ => about.warn(
            "it is not protected against deletion",
            "whoever deletes the table lets everything that callers repeat happen again",
            "set DeletionProtectionEnabled: true",
        ),
    }
}

/// Global tables: conditions see their own region only.
fn replicas(table: &TableDescription, home_region: Option<&str>, about: &mut About) {
    let regions: Vec<&str> = table.replicas().iter().filter_map(|replica| replica.region_name()).collect();
    let is_in = |home: &str| table.table_arn().is_none_or(|arn| arn.split(':').nth(3) == Some(home));
    let is_strong = table.multi_region_consistency() == Some(&MultiRegionConsistency::Strong);
    match (regions.is_empty(), is_strong, home_region) {
        (true, _, None) => about.ok("it is in one region"),
        (true, _, Some(home)) if !is_in(home) => about.problem(
            format!("it is in {}, and that is not the home region {home}", only_region(table).unwrap_or_default()),
            "functions here refuse every request (421)",
            format!("name this region in {}, or work on the table in {home}", Idempotency::HOME_REGION),
        ),
        (true, _, Some(home)) => about.ok(format!("it is in one region, which is the home region {home}")),
        (false, true, _) => about.problem(
            format!("it is a global table with strong consistency ({})", regions.join(", ")),
            "such a table has neither transactions nor time to live (\"How DynamoDB global tables work\"): staged writes, events and `resolve` fail, and nothing is deleted",
            "use a table in one region, or a global table with eventual consistency and one home region for each key",
        ),
        (false, false, None) => about.problem(
            format!("it is a global table with eventual consistency ({})", regions.join(", ")),
            "a condition sees its own region only: two regions can claim one key at once, and both run",
            format!(
                "set {} to one region in the functions of all regions, and say it here by --home-region (docs/guide/multi-region.md)",
                Idempotency::HOME_REGION
            ),
        ),
        (false, false, Some(home)) if regions.iter().all(|region| *region != home) && !is_in(home) => about.problem(
            format!("its home region is {home}, and it has no replica there ({})", regions.join(", ")),
            "every request is refused (421), in all regions",
            "name a region that has a replica",
        ),
        (false, false, Some(home)) if !is_in(home) => about.warn(
            format!("it is a global table whose home region is {home}, and this is another region's replica"),
            "what is written here may be written there at the same time",
            format!("work on the home region's replica: --region {home}"),
        ),
        (false, false, Some(home)) => about.ok(format!("it is a global table, and keys are claimed in {home} only, as you say")),
    }
}

#[cfg(test)]
mod tests;
