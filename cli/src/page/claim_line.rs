//! The line that the toolkit logs about a claim, read.

use serde_json::Value;

/// What a line says of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimLine {
    pub(super) request_id: String,
    pub(super) operation: String,
    pub(super) outcome: String,
    /// Which attempt begins, if one does.
    pub(super) attempt: Option<u32>,
}

impl ClaimLine {
    /// Reads a line in either format of Lambda's default subscriber (`AWS_LAMBDA_LOG_FORMAT`); `None` for any other line.
    pub(super) fn read(line: &str) -> Option<Self> {
        if line.starts_with('{') { Self::json(&serde_json::from_str(line).ok()?) } else { Self::text(&plain(line)) }
    }

    fn json(line: &Value) -> Option<Self> {
        let fields = line.get("fields")?;
        let spans = line.get("spans").and_then(Value::as_array).into_iter().flatten().chain(line.get("span"));
        let mut ids = spans.filter_map(|span| span.get("requestId")?.as_str());
        Self::of(
            fields.get("message")?.as_str()?,
            ids.next()?,
            fields.get("operation")?.as_str()?,
            fields.get("outcome")?.as_str()?,
            fields.get("attempt").and_then(Value::as_u64).and_then(|attempt| attempt.try_into().ok()),
        )
    }

    /// ` INFO Lambda runtime invoke{requestId="…"}: idempotency operation=create-charge outcome="fresh" attempt=1`
    fn text(line: &str) -> Option<Self> {
        // The spans end at the last of these; nothing of a request is in this kind of line.
        let (spans, event) = line.split_once("}: ")?;
        let (message, _) = event.split_once(" operation=")?;
        let field = |name: &str| value(event, name);
        let attempt = field("attempt").and_then(|attempt| attempt.parse().ok());
        Self::of(message, value(spans, "requestId")?, field("operation")?, field("outcome")?, attempt)
    }

    fn of(message: &str, request_id: &str, operation: &str, outcome: &str, attempt: Option<u32>) -> Option<Self> {
        matches!(message, "idempotency" | "idempotency after a probe").then(|| Self {
            request_id: request_id.to_owned(),
            operation: operation.to_owned(),
            outcome: outcome.replace('-', " "),
            attempt,
        })
    }
}

/// The value of `name=value`, without quotes.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let name = format!("{name}=");
    let starts_at = |at: usize| text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '{']));
    let (at, _) = text.match_indices(&name).find(|(at, _)| starts_at(*at))?;
    let rest = text.get(at + name.len()..)?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([' ', '}', ':']).next(),
    }
}

/// The line without colours (ECMA-48, control sequences).
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|character: char| character.is_ascii_alphabetic());
        plain.push_str(end.and_then(|end| part.get(end + 1..)).unwrap_or_default());
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(outcome: &str, attempt: Option<u32>) -> ClaimLine {
        let (request_id, operation) = ("id-1".to_owned(), "create-charge".to_owned());
        ClaimLine { request_id, operation, outcome: outcome.to_owned(), attempt }
    }

    #[test]
    fn a_line_about_a_claim_is_read_in_every_format() {
        let rows = [
            (
                r#" INFO Lambda runtime invoke{requestId="id-1"}: idempotency operation=create-charge outcome="fresh" attempt=2"#,
                claim("fresh", Some(2)),
            ),
            (
                r#" INFO Lambda runtime invoke{requestId="id-1" xrayTraceId="Root=1"}: idempotency operation=create-charge outcome="not-protected""#,
                claim("not protected", None),
            ),
            (
                "\u{1b}[32m INFO\u{1b}[0m \u{1b}[1mLambda runtime invoke\u{1b}[0m\u{1b}[1m{\u{1b}[0m\u{1b}[3mrequestId\u{1b}[0m\u{1b}[2m=\u{1b}[0m\"id-1\"\u{1b}[1m}\u{1b}[0m\u{1b}[2m:\u{1b}[0m idempotency \u{1b}[3moperation\u{1b}[0m\u{1b}[2m=\u{1b}[0mcreate-charge \u{1b}[3moutcome\u{1b}[0m\u{1b}[2m=\u{1b}[0m\"replay\"",
                claim("replay", None),
            ),
            (
                r#"{"level":"INFO","fields":{"message":"idempotency after a probe","operation":"create-charge","outcome":"fresh","attempt":1},"span":{"name":"x"},"spans":[{"requestId":"id-1","name":"Lambda runtime invoke"}]}"#,
                claim("fresh", Some(1)),
            ),
        ];
        for (line, expected) in rows {
            assert_eq!(ClaimLine::read(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_say_nothing_of_a_claim() {
        for line in [
            "",
            "hello outcome=\"fresh\"",
            r#" INFO Lambda runtime invoke{requestId="id-1"}: a charge operation=x outcome="fresh""#,
            r#"{"fields":{"message":"idempotency"}}"#,
            r#"{"_aws":{"Timestamp":1}}"#,
            "{not json",
        ] {
            assert_eq!(ClaimLine::read(line), None, "{line}");
        }
    }
}
