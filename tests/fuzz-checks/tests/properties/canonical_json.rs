//! RFC 8785 canonical JSON.

use fuzz_checks::{
    Choices,
    canonical_json::{check, check_spellings},
};
use idempotency_core::canonical_json;
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value};

fn value() -> impl Strategy<Value = Value> {
    let text =
        prop_oneof!["[a-c]{0,2}", any::<String>(), "[\u{0}-\u{1f}\"\\\\\u{e000}-\u{ffff}\u{10000}-\u{10ffff}]{0,4}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9..9_i64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("JSON has no such number", |number| {
            serde_json::Number::from_f64(number).map(Value::Number)
        }),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text.clone(), inner), 0..4).prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn equal_values_agree_however_they_are_spelled_and_others_differ(
        value in value(),
        other in value(),
        seed in any::<u64>(),
    ) {
        check(value.to_string().as_bytes());
        check_spellings(&value, &other, &mut Choices::seeded(seed));
        check_spellings(&value, &value, &mut Choices::seeded(seed));
    }

    #[test]
    fn any_bytes_have_a_canonical_form_or_none(text in vec(any::<u8>(), 0..64)) {
        check(&text);
    }

    #[test]
    fn members_that_may_repeat_and_large_integers_have_a_canonical_form_or_none(
        text in r#"\{"[ab]":(90071992547409[89][0-9]|-?[0-9]{1,20}),"([ab]|\\u006[12])":1\}"#,
    ) {
        check(text.as_bytes());
    }

    #[test]
    fn nearly_json_has_a_canonical_form_or_none(text in r#"([\[\]{},:"0-9.eE+\-a ]|null|true|\\u[0-9a-f]{4}|"a"){0,24}"#) {
        check(text.as_bytes());
    }
}

#[test]
fn deep_nesting_is_refused_and_never_overflows_the_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [127, 128, 100_000] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(canonical_json(text.as_bytes()).is_ok(), depth <= 127, "{open} {depth}");
            check(text.as_bytes());
            check(open.repeat(depth).as_bytes());
        }
    }
}
