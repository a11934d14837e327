use serde_json::json;

use super::*;

#[test]
fn a_detail_is_an_object_without_the_members_that_the_relay_sets() {
    let event = Event::eventbridge("com.example", "Charged", &json!({ "amount": 1, "Amount": 0 })).unwrap();
    assert_eq!(event.body(), r#"{"Amount":0,"amount":1}"#);
    for other in [json!(null), json!([1]), json!("a"), json!(1)] {
        assert!(matches!(Event::eventbridge("s", "d", &other), Err(EventError::NoObject)), "{other}");
    }
    for member in ["idempotencyKey", "outboxEventId"] {
        let refused = Event::eventbridge("s", "d", &json!({ member: null })).unwrap_err();
        assert!(refused.to_string().contains(member), "{refused}");
        assert!(Event::queue("q", &json!({ member: 1 })).is_ok());
    }
}

#[test]
fn what_has_no_json_form_is_no_event() {
    let odd = std::collections::HashMap::from([((1, 2), 3)]);
    assert!(matches!(Event::queue("q", &odd), Err(EventError::NotJson(_))));
    assert!(matches!(Event::eventbridge("s", "d", &odd), Err(EventError::NotJson(_))));
}

#[test]
fn names_are_what_the_services_take() {
    let eventbridge = |source: &str, kind: &str| Event::eventbridge(source, kind, &json!({}));
    assert!(eventbridge(&"ä".repeat(256), &"ä".repeat(128)).is_ok());
    for source in [String::new(), "a".repeat(257), "aws.s3".into()] {
        assert!(matches!(eventbridge(&source, "d"), Err(EventError::Source)), "{source}");
    }
    for kind in [String::new(), "a".repeat(129)] {
        assert!(matches!(eventbridge("s", &kind), Err(EventError::DetailType)), "{kind}");
    }
    assert!(Event::queue("a-Z_0".repeat(16), &1).is_ok());
    for name in [String::new(), "a".repeat(81), "a.fifo".into(), "a b".into(), "ä".into()] {
        assert!(matches!(Event::queue(&name, &1), Err(EventError::QueueName)), "{name}");
    }
}

#[test]
fn the_limit_is_inclusive_and_counts_bytes_as_they_are_sent() {
    // Two quotes around a text of so many bytes.
    let body = |bytes: usize| Event::queue("q", &"a".repeat(bytes - 2));
    assert_eq!(body(Event::MAX_SIZE).unwrap().body().len(), 255 * 1024);
    let told = body(Event::MAX_SIZE + 1).unwrap_err().to_string();
    assert!(told.starts_with("the event has 261121 bytes, the limit is 261120;"), "{told}");
    let detail = |bytes: usize| Event::eventbridge("so", "typ", &json!({ "m": "a".repeat(bytes - 8 - 5) }));
    assert!(detail(Event::MAX_SIZE).is_ok());
    assert!(matches!(detail(Event::MAX_SIZE + 1), Err(EventError::TooLarge { size: 261_121, .. })));
}

#[test]
fn a_message_has_only_characters_that_sqs_takes_and_means_the_same() {
    let odd = "\u{0}\u{1f}\u{FFFE}\u{FFFF}\u{10FFFF}ä\"\\";
    let event = Event::queue("q", odd).unwrap();
    assert!(!event.body().contains(|c: char| c < ' ' || matches!(c, '\u{FFFE}' | '\u{FFFF}')));
    assert_eq!(serde_json::from_str::<String>(event.body()).unwrap(), odd);
}

#[test]
fn debug_shows_neither_body_nor_key() {
    let event = Event::queue("q", "secret").unwrap().with_key(&IdempotencyKey::new("hidden").unwrap());
    let shown = format!("{event:?}");
    assert!(shown.contains("\"q\"") && !shown.contains("secret") && !shown.contains("hidden"), "{shown}");
}
