//! Whether you may do what operator commands do. Nothing is changed: writes have a condition that nothing meets.

use std::time::Duration;

use aws_sdk_dynamodb::{Client, error::ProvideErrorMetadata, types::AttributeValue};
use idempotency_core::{Namespace, Policy};
use idempotency_dynamodb::attribute;

use super::finding::{About, Finding};
use crate::operate::time::span;

/// Under this key no record stands: an operation's version is at least 1.
const KEY: &str = "#doctor#v0#";
/// No item is there and not there.
const NEVER: &str = "attribute_exists(#pk) AND attribute_not_exists(#pk)";

/// Tries each kind of request.
pub(crate) async fn check(client: &Client, table: &str, namespace: Option<&Namespace>) -> Vec<Finding> {
    let mut about = About::new("you");
    // Who may see one namespace only (`dynamodb:LeadingKeys`) is asked about that.
    let key = format!("{}{KEY}", namespace.map(Namespace::as_str).unwrap_or_default());
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let (pk, sk) = (attribute::PK, attribute::SK);
    let get = client.get_item().table_name(table).key(pk, text(&key)).key(sk, text("claim")).send().await;
    tell(&mut about, "dynamodb:GetItem", "read stored results above 32 KB", code(&get));
    let query =
        client.query().table_name(table).key_condition_expression("#pk = :pk").expression_attribute_names("#pk", pk);
    let query = query.expression_attribute_values(":pk", text(&key)).send().await;
    tell(&mut about, "dynamodb:Query", "inspect, resolve and evict", code(&query));
    let scan = client.scan().table_name(table).limit(1).send().await;
    tell(&mut about, "dynamodb:Scan", "list and watch", code(&scan));
    let put = client.put_item().table_name(table).item(pk, text(&key)).item(sk, text("claim"));
    let put = put.condition_expression(NEVER).expression_attribute_names("#pk", pk).send().await;
    tell(&mut about, "dynamodb:PutItem", "resolve and evict", code(&put));
    let delete = client.delete_item().table_name(table).key(pk, text(&key)).key(sk, text("claim"));
    let delete = delete.condition_expression(NEVER).expression_attribute_names("#pk", pk).send().await;
    tell(&mut about, "dynamodb:DeleteItem", "evict", code(&delete));
    about.into_findings()
}

/// Whether this machine's clock is ahead of the store's.
pub(crate) fn clock(ahead: Duration) -> Vec<Finding> {
    let mut about = About::new("you");
    // Requests take time, too.
    if ahead > Policy::MARGIN {
        about.warn(
            format!("this machine's clock is {} ahead of the store's", span(ahead)),
            "times are shown as the store has them; other programs here will judge leases wrongly",
            "let it be set from the network",
        );
    }
    about.into_findings()
}

/// The error code; `None` where it was allowed.
fn code<T, E: ProvideErrorMetadata>(answer: &Result<T, aws_sdk_dynamodb::error::SdkError<E>>) -> Option<String> {
    match answer {
        Ok(_) => None,
        Err(error) => match error.code() {
            Some("ConditionalCheckFailedException") => None,
            code => Some(code.unwrap_or("no answer").to_owned()),
        },
    }
}

fn tell(about: &mut About, permission: &'static str, wanted_for: &str, code: Option<String>) {
    match code.as_deref() {
        None => about.ok(format!("you have {permission}")),
        Some("AccessDeniedException") => about.problem(
            format!("you have no {permission}"),
            "an operator needs it",
            format!("grant it on the table, to {wanted_for}"),
        ),
        Some(code) => {
            about.unchecked(format!("whether you have {permission} could not be checked ({code})"), "try again")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::doctor::finding::Level;

    #[test]
    fn a_clock_that_is_ahead_is_told() {
        assert!(clock(Policy::MARGIN).is_empty());
        let found = clock(Duration::from_secs(60)).remove(0);
        assert!(found.level == Level::Warn && found.what.contains("1 min ahead"), "{found:?}");
    }

    #[test]
    fn a_missing_permission_is_named_and_another_error_is_none() {
        let levels = [None, Some("AccessDeniedException"), Some("ThrottlingException")].map(|code| {
            let mut about = About::new("you");
            tell(&mut about, "dynamodb:Scan", "list", code.map(str::to_owned));
            let finding = about.into_findings().remove(0);
            assert!(finding.what.contains("dynamodb:Scan"));
            finding.level
        });
        assert_eq!(levels, [Level::Ok, Level::Problem, Level::Unchecked]);
    }
}
