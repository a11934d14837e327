//! A queue that invokes a function.

use std::{collections::HashMap, time::Duration};

use aws_sdk_sqs::{Client, error::ProvideErrorMetadata, types::QueueAttributeName};
use idempotency_core::{Policy, Window};
use serde_json::Value;

use super::{
    finding::{About, Finding},
    function::Invoking,
};
use crate::operate::time::span;

/// Lambda's advice for the visibility timeout ("Using Lambda with Amazon SQS").
const ADVISED: u32 = 6;
/// Below it, messages in conflict reach the dead letters.
const FEWEST_RECEIVES: u64 = 5;

/// What a queue says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    visibility: Duration,
    retention: Duration,
    /// The dead-letter queue's ARN, and after how many receives.
    redrive: Option<(String, u64)>,
}

const PERMISSIONS: &str = "sqs:GetQueueUrl and sqs:GetQueueAttributes on it";

/// Looks at a queue and its dead letters.
pub(crate) async fn check(client: &Client, invoking: &Invoking, storage_ttl: Option<Duration>) -> Vec<Finding> {
    let mut about = About::new(format!("queue {}", name(&invoking.arn)));
    match read(client, &invoking.arn).await {
        Ok(queue) => {
            visibility(&queue, invoking, &mut about);
            window(&queue, storage_ttl, &mut about);
            dead_letters(&queue, &mut about);
            if let Some((arn, _)) = &queue.redrive {
                match read(client, arn).await {
                    Ok(dead) => kept(&queue, &dead, &mut about),
                    Err(Some(code)) if code.contains("NonExistent") || code.contains("DoesNotExist") => about.problem(
                        format!("its dead-letter queue {} does not exist", name(arn)),
                        "messages that fail for good come again until they are too old, and are lost then",
                        "make it, or correct the redrive policy",
                    ),
                    Err(code) => about.unanswered("its dead-letter queue", code.as_deref(), PERMISSIONS),
                }
            }
        }
        Err(code) => about.unanswered("it", code.as_deref(), PERMISSIONS),
    }
    about.into_findings()
}

fn name(arn: &str) -> &str {
    arn.rsplit(':').next().unwrap_or(arn)
}

/// The error is its code, if it has one.
async fn read(client: &Client, arn: &str) -> Result<Queue, Option<String>> {
    let account = arn.split(':').nth(4).filter(|account| !account.is_empty());
    let url = client.get_queue_url().queue_name(name(arn)).set_queue_owner_aws_account_id(account.map(str::to_owned));
    let url = url.send().await.map_err(|error| error.code().map(str::to_owned))?;
    let attributes =
        client.get_queue_attributes().set_queue_url(url.queue_url).attribute_names(QueueAttributeName::All);
    let attributes = attributes.send().await.map_err(|error| error.code().map(str::to_owned))?;
    parse(attributes.attributes.unwrap_or_default()).ok_or_else(|| Some("attributes that cannot be read".to_owned()))
}

fn parse(attributes: HashMap<QueueAttributeName, String>) -> Option<Queue> {
    let seconds = |name| attributes.get(&name)?.parse().ok().map(Duration::from_secs);
    let redrive = match attributes.get(&QueueAttributeName::RedrivePolicy).filter(|policy| !policy.is_empty()) {
        None => None,
        Some(policy) => {
            let policy: Value = serde_json::from_str(policy).ok()?;
            // SQS gives the number as it was set: a number, or text.
            let receives = policy.get("maxReceiveCount")?;
            let receives = receives.as_u64().or_else(|| receives.as_str()?.parse().ok())?;
            Some((policy.get("deadLetterTargetArn")?.as_str()?.to_owned(), receives))
        }
    };
    Some(Queue {
        visibility: seconds(QueueAttributeName::VisibilityTimeout)?,
        retention: seconds(QueueAttributeName::MessageRetentionPeriod)?,
        redrive,
    })
}

fn visibility(queue: &Queue, invoking: &Invoking, about: &mut About) {
    let (visibility, timeout) = (queue.visibility, invoking.timeout);
    let lease = timeout + Policy::MARGIN;
    let told = format!(
        "its visibility timeout is {}, and a lost attempt of {} keeps its key for {}",
        span(visibility),
        invoking.function,
        span(lease)
    );
    if visibility <= lease {
        about.problem(
            told,
            "a message comes again while its lost attempt's lease is running: each time costs a receive, until it is a dead letter",
            format!("a visibility timeout of {}, six times the function's timeout", span(timeout * ADVISED)),
        );
    } else if visibility < timeout * ADVISED {
        about.warn(
            told,
            "Lambda advises six times the function's timeout, because it retries while the function is throttled",
            format!("a visibility timeout of {}", span(timeout * ADVISED)),
        );
    } else {
        about.ok(told);
    }
}

/// A message can come back for as long as any queue keeps it.
fn window(queue: &Queue, storage_ttl: Option<Duration>, about: &mut About) {
    let Ok(window) = Window::sqs(queue.retention) else {
        return about.unchecked(
            format!("its retention is {}, which no queue has", span(queue.retention)),
            "look at it by hand",
        );
    };
    let needed = window.storage_ttl();
    let told = format!(
        "it keeps messages for {}, so keys must be remembered for {} (this and a dead-letter queue's 14 days, and this again after a redrive)",
        span(queue.retention),
        span(needed)
    );
    match storage_ttl {
        None => about.ok(format!(
            "{told}: window = sqs({} days) does; say --storage-ttl to have yours compared",
            queue.retention.as_secs() / 86_400
        )),
        Some(ttl) if ttl >= needed => about.ok(told),
        Some(ttl) => about.problem(
            format!("{told}, and your storage TTL is {}", span(ttl)),
            "a message that is redriven late finds its record gone, and has its effect again",
            "use Window::sqs with the queue's retention, or a shorter retention",
        ),
    }
}

fn dead_letters(queue: &Queue, about: &mut About) {
    match &queue.redrive {
        None => about.problem(
            "it has no dead-letter queue",
            "a message that fails for good comes again until it is too old, and is lost then",
            "set a RedrivePolicy with maxReceiveCount 5 or more",
        ),
        Some((arn, receives)) if *receives < FEWEST_RECEIVES => about.warn(
            format!("messages go to {} after {receives} receives", name(arn)),
            "a message whose attempt was lost, or whose duplicate is at work, needs some receives",
            format!("a maxReceiveCount of {FEWEST_RECEIVES} or more"),
        ),
        Some((arn, receives)) => about.ok(format!("messages go to {} after {receives} receives", name(arn))),
    }
}

fn kept(queue: &Queue, dead: &Queue, about: &mut About) {
    let told = format!("its dead letters are kept for {}", span(dead.retention));
    match dead.retention > queue.retention {
        true => about.ok(told),
        false => about.warn(
            told,
            "a standard queue's message keeps its age: one that fails late is deleted before anybody sees it",
            "keep dead letters for 14 days",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::doctor::finding::Level;

    const DAY: u64 = 86_400;

    fn queue(visibility: u64, retention: u64, receives: Option<u64>) -> Queue {
        let seconds = Duration::from_secs;
        let redrive = receives.map(|receives| ("arn:aws:sqs:r:1:dlq".to_owned(), receives));
        Queue { visibility: seconds(visibility), retention: seconds(retention), redrive }
    }

    fn level(look: impl FnOnce(&mut About)) -> Level {
        let mut about = About::new("queue");
        look(&mut about);
        about.into_findings().remove(0).level
    }

    #[test]
    fn a_message_comes_again_after_the_lease() {
        let invoking =
            Invoking { arn: "arn:aws:sqs:r:1:q".into(), function: "f".into(), timeout: Duration::from_secs(10) };
        let of = |seconds| level(|about| visibility(&queue(seconds, DAY, None), &invoking, about));
        assert_eq!([13, 14, 59, 60].map(of), [Level::Problem, Level::Warn, Level::Warn, Level::Ok]);
    }

    #[test]
    fn keys_are_remembered_for_as_long_as_messages_can_come_back() {
        let of =
            |days: u64| level(|about| window(&queue(60, 4 * DAY, None), Some(Duration::from_secs(days * DAY)), about));
        assert_eq!((of(22), of(23)), (Level::Problem, Level::Ok));
        assert_eq!(level(|about| window(&queue(60, 4 * DAY, None), None, about)), Level::Ok);
        assert_eq!(level(|about| window(&queue(60, 99 * DAY, None), None, about)), Level::Unchecked);
    }

    #[test]
    fn dead_letters_have_a_place_after_enough_receives_and_for_long_enough() {
        let of = |receives| level(|about| dead_letters(&queue(60, DAY, receives), about));
        assert_eq!([None, Some(4), Some(5)].map(of), [Level::Problem, Level::Warn, Level::Ok]);
        let of = |days: u64| level(|about| kept(&queue(60, 4 * DAY, None), &queue(60, days * DAY, None), about));
        assert_eq!((of(4), of(14)), (Level::Warn, Level::Ok));
    }

    #[test]
    fn a_redrive_policys_count_is_a_number_or_text() {
        let of = |count: &str| {
            let policy = format!(r#"{{"deadLetterTargetArn":"arn:aws:sqs:r:1:dlq","maxReceiveCount":{count}}}"#);
            parse(HashMap::from([
                (QueueAttributeName::VisibilityTimeout, "30".into()),
                (QueueAttributeName::MessageRetentionPeriod, "86400".into()),
                (QueueAttributeName::RedrivePolicy, policy),
            ]))
        };
        assert_eq!(of("5"), Some(queue(30, DAY, Some(5))));
        assert_eq!(of("\"5\""), Some(queue(30, DAY, Some(5))));
        assert_eq!(of("null"), None);
        assert_eq!(parse(HashMap::new()), None);
    }
}
