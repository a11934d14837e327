//! One event, and the same event again.

use serde_json::Value;

use super::{
    Counts, Json, Trigger,
    expected::{Expected, expected},
    function::{Answer, Charge, Ending, Function},
    mutate::mutated,
    panics::Known,
    trigger::Kind,
};
use crate::Choices;

/// Checks the event that follows from a seed. A panic is told with the command that repeats it.
pub fn check_seed(trigger: &Trigger, seed: u64, counts: &mut Counts) {
    struct Repeat<'a>(&'a Trigger, u64);
    impl Drop for Repeat<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Self(trigger, seed) = self;
                eprintln!(
                    "repeat it: cargo run --release -p fuzz-checks -- --trigger {} --first {seed} --events 1 --trace",
                    trigger.name
                );
            }
        }
    }
    let _repeat = Repeat(trigger, seed);
    check(trigger, &mut Choices::seeded(seed), counts);
}

/// Checks the event that follows from decisions.
pub fn check(trigger: &Trigger, choices: &mut Choices<'_>, counts: &mut Counts) -> Json {
    let event = mutated(trigger, choices);
    Checked::new(trigger, &event.to_string(), Some(&event)).check(counts);
    event
}

/// Checks any text as an event.
pub fn check_text(trigger: &Trigger, text: &str, counts: &mut Counts) {
    Checked::new(trigger, text, Json::parse(text).as_ref()).check(counts);
}

struct Checked<'a> {
    trigger: &'a Trigger,
    text: &'a str,
    event: Option<&'a Json>,
    function: Function,
}

impl<'a> Checked<'a> {
    fn new(trigger: &'a Trigger, text: &'a str, event: Option<&'a Json>) -> Self {
        Self { trigger, text, event, function: Function::new(trigger.scope) }
    }

    fn check(&self, counts: &mut Counts) {
        counts.events += 1;
        let (kind, first) = self.function.invoke(self.text);
        let Some(kind) = kind else {
            counts.not_decoded += 1;
            return self.nothing_ran();
        };
        counts.other_kind += u64::from(kind != self.trigger.kind);
        self.valid(kind, &first);
        match (&first, self.event.map(|event| expected(event, kind, self.trigger.scope))) {
            (Answer::Panicked(known), _) => {
                match known {
                    Known::Base64 => counts.panicked_base64 += 1,
                    Known::Url => counts.panicked_url += 1,
                }
                self.nothing_ran();
            }
            (_, None | Some(Expected::Unknown)) => {
                counts.unknown += 1;
                self.at_most_once(kind);
            }
            (first, Some(Expected::Refused(status))) => {
                counts.refused += 1;
                assert_eq!(self.status(first), Some(status), "{self}: {first:?}");
                assert_eq!(&self.again(kind), first, "{self}: refused in another way");
                self.nothing_ran();
            }
            (_, Some(Expected::RunsUnprotected)) => {
                counts.unprotected += 1;
                self.again(kind);
                let runs = self.function.runs();
                assert!(runs.len() == 2 && runs.iter().all(|run| run.attempt.is_none()), "{self}: {runs:?}");
                assert_eq!(self.function.records(), 0, "{self}");
            }
            (first, Some(Expected::Runs { key, tenant, charge })) => {
                let runs = self.function.runs();
                assert_eq!(runs.len(), 1, "{self}: the handler did not run: {first:?}");
                assert_eq!(runs[0].attempt, Some((key, tenant)), "{self}: the handler ran for another key or tenant");
                self.ended(kind, first, &charge, counts);
                self.other_body(kind, &charge, counts);
            }
        }
    }

    /// What the same event is answered again, after the handler ran with a key.
    fn ended(&self, kind: Kind, first: &Answer, charge: &Charge, counts: &mut Counts) {
        let second = self.again(kind);
        let effects = self.function.runs().iter().filter(|run| run.effect).count();
        match charge.ending() {
            Ending::Retryable => {
                counts.released += 1;
                assert_eq!((self.status(first), self.status(&second)), (Some(503), Some(503)), "{self}");
                assert_eq!((effects, self.function.runs().len()), (0, 2), "{self}: released keys are claimed at once");
            }
            Ending::Abandoned => {
                counts.abandoned += 1;
                assert_eq!(first, &Answer::Failed, "{self}");
                assert_eq!((effects, self.status(&second)), (1, Some(409)), "{self}: {second:?}");
            }
            ending => {
                counts.effects += 1;
                assert_eq!(effects, 1, "{self}: a second effect");
                let (Answer::Response(first), Answer::Response(second)) = (first, &second) else {
                    panic!("{self}: {first:?}, then {second:?}")
                };
                assert_eq!(
                    body(first),
                    ending.body(charge.amount),
                    "{self}: the body is not what the handler returned"
                );
                assert!(!is_replay(first) && is_replay(second), "{self}: {first}, then {second}");
                assert_eq!(kept(first), kept(second), "{self}: the replay is another response");
                assert!(!has_what_belongs_to_one_delivery(second), "{self}: {second}");
                counts.replays += 1;
            }
        }
    }

    /// Another body under the same key is refused, whatever became of the key.
    fn other_body(&self, kind: Kind, charge: &Charge, counts: &mut Counts) {
        let before = self.function.runs().len();
        let amount = if charge.amount >= 8 { charge.amount - 8 } else { charge.amount + 8 };
        let mut event = self.event.unwrap().clone();
        let body = format!(r#"{{"amount":{amount},"currency":"EUR","customer":"cus_42"}}"#);
        *event.make(&["body"]) = Json::String(body);
        *event.make(&["isBase64Encoded"]) = Json::Bool(false);
        let (_, answer) = self.function.invoke(&event.to_string());
        self.valid(kind, &answer);
        assert_eq!(self.status(&answer), Some(422), "{self}: {answer:?}");
        assert_eq!(self.function.runs().len(), before, "{self}: ran for another body");
        counts.mismatches += 1;
    }

    fn again(&self, kind: Kind) -> Answer {
        let (again, answer) = self.function.invoke(self.text);
        assert_eq!(again, Some(kind), "{self}");
        self.valid(kind, &answer);
        answer
    }

    fn nothing_ran(&self) {
        assert_eq!((self.function.runs(), self.function.records()), (Vec::new(), 0), "{self}");
    }

    /// The little that holds for an event of which not all is known.
    fn at_most_once(&self, kind: Kind) {
        self.again(kind);
        let runs = self.function.runs();
        let effects = runs.iter().filter(|run| run.effect && run.attempt.is_some()).count();
        assert!(effects <= 1, "{self}: {runs:?}");
        let unprotected = runs.iter().any(|run| run.attempt.is_none());
        let method = self.event.and_then(|event| event.at(kind.method())).and_then(Json::as_str);
        assert!(!unprotected || !matches!(method, Some("POST" | "PATCH")), "{self}: ran without a key");
    }

    fn valid(&self, kind: Kind, answer: &Answer) {
        if let Answer::Response(response) = answer {
            let faults = kind.faults(response);
            assert!(faults.is_empty(), "{self}: {faults:?} in {response}");
        }
    }

    fn status(&self, answer: &Answer) -> Option<u16> {
        match answer {
            Answer::Response(response) => response["statusCode"].as_u64().and_then(|status| status.try_into().ok()),
            _ => None,
        }
    }
}

impl std::fmt::Display for Checked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} event {}", self.trigger.name, self.text)
    }
}

const REPLAYED: &str = "idempotent-replayed";

fn is_replay(response: &Value) -> bool {
    response["headers"][REPLAYED] == "true" || response["multiValueHeaders"][REPLAYED][0] == "true"
}

fn body(response: &Value) -> Option<(String, bool)> {
    let text = response.get("body").and_then(Value::as_str)?;
    Some((text.to_owned(), response["isBase64Encoded"] == true))
}

const OF_ONE_DELIVERY: [&str; 2] = ["set-cookie", "date"];

fn has_what_belongs_to_one_delivery(response: &Value) -> bool {
    let has = |map: &str| OF_ONE_DELIVERY.iter().any(|name| response[map].get(name).is_some());
    has("headers") || has("multiValueHeaders") || response["cookies"].as_array().is_some_and(|all| !all.is_empty())
}

/// What a replay must repeat: all but the mark of a replay, and what belongs to one delivery.
fn kept(response: &Value) -> Value {
    let mut kept = response.clone();
    for map in ["headers", "multiValueHeaders"] {
        if let Some(headers) = kept[map].as_object_mut() {
            headers.retain(|name, _| name != REPLAYED && !OF_ONE_DELIVERY.contains(&name.as_str()));
        }
    }
    if let Some(members) = kept.as_object_mut() {
        members.remove("cookies");
    }
    kept
}
