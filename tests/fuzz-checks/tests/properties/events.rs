//! Mutated events of every trigger.

use fuzz_checks::events::{Counts, Trigger, check_seed, check_text};

/// Per trigger; `cargo run --release -p fuzz-checks` checks 100,000.
const EVENTS: u64 = 2_000;

fn holds_for(trigger: &str) {
    let trigger = Trigger::named(trigger).unwrap();
    let mut counts = Counts::default();
    (0..EVENTS).for_each(|seed| check_seed(trigger, seed, &mut counts));
    let Counts {
        not_decoded, refused, effects, replays, mismatches, released, abandoned, unprotected, unknown, ..
    } = counts;
    // Each fate is met often, so nothing above holds only because nothing happens.
    for met in [not_decoded, refused, effects, replays, mismatches, released, abandoned, unprotected] {
        assert!(met >= EVENTS / 100, "{counts:#?}");
    }
    assert!(unknown < EVENTS / 20, "{counts:#?}");
}

#[test]
fn mutated_rest_api_events_have_no_effect_without_a_key_and_valid_answers() {
    holds_for("api-gateway-rest");
}

#[test]
fn mutated_http_api_events_have_no_effect_without_a_key_and_valid_answers() {
    holds_for("api-gateway");
}

#[test]
fn mutated_load_balancer_events_have_no_effect_without_a_key_and_valid_answers() {
    holds_for("alb");
}

#[test]
fn mutated_load_balancer_events_with_multi_value_headers_have_no_effect_without_a_key_and_valid_answers() {
    holds_for("alb-multi-value");
}

#[test]
fn mutated_function_url_events_have_no_effect_without_a_key_and_valid_answers() {
    holds_for("function-url");
}

#[test]
fn every_trigger_is_covered_above() {
    let names: Vec<_> = Trigger::all().iter().map(|trigger| trigger.name).collect();
    assert_eq!(names, ["api-gateway-rest", "api-gateway", "alb", "alb-multi-value", "function-url"]);
}

#[test]
fn texts_that_are_no_events_are_refused() {
    for trigger in Trigger::all() {
        for text in
            ["", "{", "{}", "[]", "null", "0", "\"\"", "{\"requestContext\":{}}", "\u{feff}{}", &"[".repeat(100_000)]
        {
            let mut counts = Counts::default();
            check_text(trigger, text, &mut counts);
            assert_eq!(counts.not_decoded, 1, "{text}");
        }
    }
}
