//! What delivers the records of a function: a word, or a source of the user's own.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Error, Expr, Result, spanned::Spanned};

use crate::{collected::Collected, diagnostics, written::Word};

/// What delivers the records of a function.
pub(crate) struct Trigger {
    /// A path that is both a type that implements `Source` and its only value.
    pub(crate) source: TokenStream,
    /// Whether its records may have keys by which they are kept in order.
    pub(crate) has_keys: bool,
}

/// The words, the sources of `lambda_idempotency::events` that they mean, and whether their records have keys by which they are kept
/// in order.
const TRIGGERS: [(&str, &str, bool); 10] = [
    ("sqs", "Sqs", false),
    ("kinesis", "Kinesis", true),
    ("dynamodb", "DynamoDbStream", false),
    ("kafka", "Kafka", true),
    ("kafka_reporting", "KafkaReporting", true),
    ("eventbridge", "EventBridge", false),
    ("sns", "Sns", false),
    ("s3", "S3", false),
    ("scheduler", "Scheduler", false),
    ("invocation", "Invocation", false),
];

/// What else they are called, without capitals and underscores.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("dynamodbstream", "dynamodb"),
    ("dynamodbstreams", "dynamodb"),
    ("dynamostream", "dynamodb"),
    ("kinesisstream", "kinesis"),
    ("msk", "kafka"),
    ("queue", "sqs"),
    ("fifo", "sqs"),
    ("topic", "sns"),
    ("eventbus", "eventbridge"),
    ("schedule", "scheduler"),
    ("lambda", "invocation"),
    ("invoke", "invocation"),
];

/// Exactly one trigger, as a word or as a source. There is at least one of them.
pub(crate) fn trigger(words: &[Word], source: Option<&Expr>) -> Result<Trigger> {
    let spans = || words.iter().map(|word| word.span).chain(source.map(Spanned::span));
    if let Some(second) = spans().nth(1) {
        return Err(Error::new(second, diagnostics::TWO_TRIGGERS));
    }
    match (words.first(), source) {
        (Some(word), _) => known(word).ok_or_else(|| Error::new(word.span, diagnostics::unknown_trigger(meant(word)))),
        (None, Some(Expr::Path(path))) if path.path.segments.iter().all(|segment| segment.arguments.is_none()) => {
            Ok(Trigger { source: quote!(#path), has_keys: true })
        }
        (None, other) => Err(Error::new(other.map_or_else(Span::call_site, Spanned::span), diagnostics::SOURCE)),
    }
}

/// The source of arguments that may be faulty otherwise; any if it cannot be told.
pub(crate) fn source(arguments: &TokenStream) -> TokenStream {
    let collected = Collected::of(arguments);
    let trigger = trigger(&collected.words, collected.source.as_ref());
    trigger.map_or_else(|_| quote!(::lambda_idempotency::events::Sqs), |trigger| trigger.source)
}

fn known(word: &Word) -> Option<Trigger> {
    let (_, source, has_keys) = TRIGGERS.into_iter().find(|(name, ..)| *name == word.text)?;
    let source = format_ident!("{source}");
    Some(Trigger { source: quote!(::lambda_idempotency::events::#source), has_keys })
}

/// The word that was probably meant.
fn meant(word: &Word) -> Option<&'static str> {
    let plain = |text: &str| text.replace(|character: char| !character.is_alphanumeric(), "").to_lowercase();
    let written = plain(&word.text);
    let names = TRIGGERS.into_iter().map(|(name, ..)| name);
    let same = names.clone().find(|name| plain(name) == written);
    let other = || OTHER_NAMES.into_iter().find(|(name, _)| *name == written).map(|(_, name)| name);
    let close = || names.clone().find(|name| name.len() > 3 && is_close(&plain(name), &written));
    same.or_else(other).or_else(close)
}

/// Whether one letter is wrong, missing or too many, or two have changed places.
fn is_close(a: &str, b: &str) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    let begin = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(begin..).unwrap_or_default(), b.get(begin..).unwrap_or_default());
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let rest = |letters: &[char]| letters.iter().take(letters.len() - end).copied().collect::<Vec<_>>();
    match (rest(a).as_slice(), rest(b).as_slice()) {
        ([one, two], [other_one, other_two]) => one == other_two && two == other_one,
        (a, b) => a.len() <= 1 && b.len() <= 1,
    }
}
