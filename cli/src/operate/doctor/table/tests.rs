use aws_sdk_dynamodb::types::{AttributeDefinition, BillingModeSummary, KeySchemaElement, ReplicaDescription};

use super::*;
use crate::operate::doctor::finding::Level;

fn level(look: impl FnOnce(&mut About)) -> Level {
    let mut about = About::new("table");
    look(&mut about);
    let findings = about.into_findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let finding = &findings[0];
    assert_eq!(
        finding.level == Level::Ok,
        finding.todo.is_empty(),
        "who is told of something is told what to do: {finding:?}"
    );
    finding.level
}

fn with_keys(pk: &str, sk: &str, kind: ScalarAttributeType) -> TableDescription {
    let element = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    let definition =
        |name: &str| AttributeDefinition::builder().attribute_name(name).attribute_type(kind.clone()).build().unwrap();
    TableDescription::builder()
        .key_schema(element(pk, KeyType::Hash))
        .key_schema(element(sk, KeyType::Range))
        .attribute_definitions(definition(pk))
        .attribute_definitions(definition(sk))
        .build()
}

#[test]
fn keys_are_of_the_right_names_and_kinds() {
    let of = |table: &TableDescription| level(|about| keys(table, about));
    assert_eq!(of(&with_keys("pk", "sk", ScalarAttributeType::S)), Level::Ok);
    assert_eq!(of(&with_keys("sk", "pk", ScalarAttributeType::S)), Level::Problem);
    assert_eq!(of(&with_keys("pk", "sk", ScalarAttributeType::B)), Level::Problem);
    assert_eq!(of(&with_keys("id", "sk", ScalarAttributeType::S)), Level::Problem);
}

#[test]
fn time_to_live_is_on_and_on_the_right_attribute() {
    let of = |status, name: &str| {
        let described = TimeToLiveDescription::builder().time_to_live_status(status).attribute_name(name).build();
        level(|about| time_to_live(Some(&described), about))
    };
    assert_eq!(of(TimeToLiveStatus::Enabled, "expires_at"), Level::Ok);
    assert_eq!(of(TimeToLiveStatus::Enabled, "ttl"), Level::Problem);
    assert_eq!(of(TimeToLiveStatus::Disabled, "expires_at"), Level::Problem);
    assert_eq!(level(|about| time_to_live(None, about)), Level::Problem);
}

#[test]
fn recovery_billing_and_protection_are_advice() {
    assert_eq!(level(|about| recovery(Some(&PointInTimeRecoveryStatus::Enabled), about)), Level::Ok);
    assert_eq!(level(|about| recovery(None, about)), Level::Warn);
    let table = TableDescription::builder();
    let on_demand = BillingModeSummary::builder().billing_mode(BillingMode::PayPerRequest).build();
    let on_demand = table.clone().billing_mode_summary(on_demand).deletion_protection_enabled(true).build();
    assert_eq!(level(|about| capacity(&on_demand, about)), Level::Ok);
    assert_eq!(level(|about| protection(&on_demand, about)), Level::Ok);
    assert_eq!(level(|about| capacity(&table.clone().build(), about)), Level::Warn);
    assert_eq!(level(|about| protection(&table.build(), about)), Level::Warn);
}

#[test]
fn a_global_table_needs_a_home_region_and_no_strong_consistency() {
    let replica = ReplicaDescription::builder().region_name("eu-west-1").build();
    let global = TableDescription::builder().replicas(replica).table_arn("arn:aws:dynamodb:us-east-1:1:table/t");
    let eventual = global.clone().multi_region_consistency(MultiRegionConsistency::Eventual).build();
    let strong = global.multi_region_consistency(MultiRegionConsistency::Strong).build();
    let of = |table: &TableDescription, home| level(|about| replicas(table, home, about));
    assert_eq!(of(&TableDescription::builder().build(), None), Level::Ok);
    assert_eq!(of(&eventual, None), Level::Problem);
    assert_eq!(of(&eventual, Some("ap-south-1")), Level::Problem, "there is no replica");
    assert_eq!(of(&eventual, Some("us-east-1")), Level::Ok);
    assert_eq!(of(&eventual, Some("eu-west-1")), Level::Warn, "this is another region's replica");
    assert_eq!(of(&strong, Some("us-east-1")), Level::Problem);
    let alone = TableDescription::builder().table_arn("arn:aws:dynamodb:us-east-1:1:table/t").build();
    assert_eq!(of(&alone, Some("us-east-1")), Level::Ok);
    assert_eq!(of(&alone, Some("eu-west-1")), Level::Problem, "functions here would refuse everything");
}
