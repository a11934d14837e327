//! A record and its effects in one transaction.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::{BuildError, SdkError},
    operation::transact_write_items::TransactWriteItemsError,
    types::{
        AttributeValue, CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure::AllOld,
        TransactWriteItem, Update,
    },
};
use idempotency_core::{Committed, Effect, Item, StoreError, TableWrite, TableWriteKind, Write};

use crate::{
    error::{THROTTLED, classify},
    item::{item_from_record, record_from_item},
    outbox_item::item_from_outbox_entry,
    put_condition::PutCondition,
};

/// The actions of a transaction: the record first, then the effects in their order.
pub(crate) fn actions(
    table: &str,
    write: Option<&Write>,
    effects: &[Effect],
) -> Result<Vec<TransactWriteItem>, BuildError> {
    let record = write.map(|write| record_action(table, write));
    record.into_iter().chain(effects.iter().map(|effect| effect_action(table, effect))).collect()
}

fn record_action(table: &str, write: &Write) -> Result<TransactWriteItem, BuildError> {
    let condition = PutCondition::of(write);
    let put = Put::builder()
        .table_name(table)
        .set_item(Some(item_from_record(write.record())))
        .condition_expression(condition.expression)
        .set_expression_attribute_names(Some(condition.names))
        .set_expression_attribute_values(condition.values)
        .return_values_on_condition_check_failure(AllOld)
        .build()?;
    Ok(TransactWriteItem::builder().put(put).build())
}

fn effect_action(table: &str, effect: &Effect) -> Result<TransactWriteItem, BuildError> {
    match effect {
        Effect::Table(write) => table_action(write),
        Effect::Event(entry) => {
            let put = Put::builder().table_name(table).set_item(Some(item_from_outbox_entry(entry))).build()?;
            Ok(TransactWriteItem::builder().put(put).build())
        }
        // `Effect` grows with this crate.
        _ => Err(BuildError::other("an effect that this version does not know")),
    }
}

/// A builder with what every action has. The SDK's builders share no trait.
macro_rules! conditioned {
    ($builder:expr, $write:expr) => {
        $builder
            .table_name($write.table())
            .set_condition_expression($write.condition().map(ToOwned::to_owned))
            .set_expression_attribute_names(names($write))
            .set_expression_attribute_values(values($write))
            .return_values_on_condition_check_failure(AllOld)
    };
}

fn table_action(write: &TableWrite) -> Result<TransactWriteItem, BuildError> {
    let action = TransactWriteItem::builder();
    Ok(match write.kind() {
        TableWriteKind::Put(item) => {
            action.put(conditioned!(Put::builder(), write).set_item(Some(sdk_item(item))).build()?)
        }
        TableWriteKind::Update { key, expression } => {
            let update = conditioned!(Update::builder(), write).update_expression(expression);
            action.update(update.set_key(Some(sdk_item(key))).build()?)
        }
        TableWriteKind::Delete(key) => {
            action.delete(conditioned!(Delete::builder(), write).set_key(Some(sdk_item(key))).build()?)
        }
        TableWriteKind::Check(key) => {
            let check = conditioned!(ConditionCheck::builder(), write);
            action.condition_check(check.set_key(Some(sdk_item(key))).build()?)
        }
    }
    .build())
}

fn names(write: &TableWrite) -> Option<HashMap<String, String>> {
    // An empty map is refused.
    (!write.names().is_empty()).then(|| write.names().clone())
}

fn values(write: &TableWrite) -> Option<HashMap<String, AttributeValue>> {
    let values = write.values().iter().map(|(name, value)| (name.clone(), value.clone().into()));
    (!write.values().is_empty()).then(|| values.collect())
}

fn sdk_item(item: &Item) -> HashMap<String, AttributeValue> {
    item.clone().into()
}

/// What it means that a transaction did not commit.
///
/// A cancelled transaction names a reason for each of its actions, in their order (`TransactionCanceledException`, Amazon DynamoDB API
/// Reference). The record's condition counts before all others: if it failed, whatever else was in the way does not matter.
pub(crate) fn explain(
    error: SdkError<TransactWriteItemsError, HttpResponse>,
    has_record: bool,
    staged: &[Effect],
) -> Result<Committed, StoreError> {
    let reasons = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => cancelled.cancellation_reasons(),
        // The same request, sent before, is at work, so it may still be applied.
        Some(TransactWriteItemsError::TransactionInProgressException(_)) => {
            return Err(StoreError::Unknown(error.into()));
        }
        _ => return Err(classify(error)),
    };
    let failed = |reason: &&CancellationReason| reason.code() == Some("ConditionalCheckFailed");
    let (record, effects) = if has_record { reasons.split_at(reasons.len().min(1)) } else { reasons.split_at(0) };
    if let Some(reason) = record.first().filter(failed) {
        let old = reason.item().map(record_from_item).transpose()?;
        return Ok(Committed::Refused(old));
    }
    // Nobody has looked at the record, so nobody knows whether it is refused.
    if record.first().and_then(CancellationReason::code).is_some_and(is_transient) {
        return Err(StoreError::Throttled(error.into()));
    }
    if let Some((index, reason)) = effects.iter().enumerate().find(|(_, reason)| failed(reason)) {
        let item = reason.item().cloned().map(Item::from);
        return Ok(Committed::EffectRefused { index, item });
    }
    let codes = || reasons.iter().filter_map(CancellationReason::code).filter(|code| *code != "None");
    match codes().next() {
        Some(_) if codes().all(is_transient) => Err(StoreError::Throttled(error.into())),
        Some(_) => Err(StoreError::Refused(refusal(record.first(), effects, staged).into())),
        None => Err(StoreError::Unknown(error.into())),
    }
}

/// What DynamoDB says about each action that it refuses, by the name that the user gave it. (The SDK's own text has the codes alone, in
/// the order of the actions.)
fn refusal(record: Option<&CancellationReason>, effects: &[CancellationReason], staged: &[Effect]) -> String {
    let effects = effects.iter().zip(staged).map(|(reason, effect)| match effect {
        Effect::Table(write) => (format!("the write {:?} to table {:?}", write.label(), write.table()), reason),
        effect => (format!("the event {:?}", effect.label()), reason),
    });
    let reasons = record.map(|reason| ("the record".to_owned(), reason)).into_iter().chain(effects);
    let told = reasons.filter_map(|(what, reason)| {
        let code = reason.code().filter(|code| *code != "None")?;
        Some(format!("{what}: {code}: {}", reason.message().unwrap_or("no reason given")))
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Reasons that are over a moment later: another transaction, or too many requests.
fn is_transient(code: &str) -> bool {
    matches!(code, "TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError")
        || THROTTLED.contains(&code)
}
