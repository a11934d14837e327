//! Fingerprints: what is equal, what differs, and what never changes.

use super::*;

fn json(text: &str) -> Fingerprint {
    Fingerprint::builder().json("body", text.as_bytes()).finish()
}

#[test]
fn equal_json_shares_a_fingerprint_and_different_json_does_not() {
    assert_eq!(json(r#"{"a":1,"b":[1.50]}"#), json(r#"{ "b": [15e-1], "a": 1.0 }"#));
    assert_ne!(json(r#"{"a":1}"#), json(r#"{"a":"1"}"#));
    assert_ne!(json(r#"{"a":null}"#), json("{}"));
    assert_ne!(json("9007199254740992"), json("9007199254740993"));
    assert_ne!(json(r#"{"amount":1,"amount":2}"#), json(r#"{"amount":2}"#));
}

#[test]
fn kind_and_name_of_a_part_count() {
    assert_ne!(json("{}"), Fingerprint::builder().bytes("body", b"{}").finish());
    assert_ne!(Fingerprint::builder().bytes("a", b"bc").finish(), Fingerprint::builder().bytes("ab", b"c").finish());
}

#[test]
fn the_stored_form_never_changes() {
    // Keys in flight during an upgrade must keep their fingerprint: this value is a promise of schema 1.
    assert_eq!(
        format!("{:?}", json(r#"{"amount":1200.5,"currency":"EUR"}"#)),
        "Fingerprint(RmMnN2nrU8fzrrXu_JDChNxpkzImiCea6xwmta8ryFM)"
    );
}

const EXCLUDED: [JsonPointer; 4] = [
    JsonPointer::declare("/sent_at"),
    JsonPointer::declare("/trace/id"),
    JsonPointer::declare("/items/1/seen"),
    JsonPointer::declare("/items/3"),
];

fn without(text: &str) -> Fingerprint {
    Fingerprint::builder().json_without("body", text.as_bytes(), &EXCLUDED).finish()
}

#[test]
fn requests_that_differ_in_excluded_members_only_are_equal() {
    let first = without(r#"{"a":1,"sent_at":"19:00","trace":{"id":7,"from":"x"},"items":[0,{"seen":1,"n":2},2,3,4]}"#);
    for same in [
        r#"{"a":1,"sent_at":"19:01","trace":{"id":8,"from":"x"},"items":[0,{"seen":2,"n":2},2,9,4]}"#,
        r#"{"a":1,"sent_at":{"deep":[1]},"trace":{"id":null,"from":"x"},"items":[0,{"seen":[],"n":2},2,{},4]}"#,
        r#"{ "items": [0,{"n":2},2,null,4], "trace": {"from":"x"}, "a": 1.0 }"#,
    ] {
        assert_eq!(without(same), first, "{same}");
    }
    for other in [
        r#"{"a":2,"sent_at":"19:00","trace":{"id":7,"from":"x"},"items":[0,{"seen":1,"n":2},2,3,4]}"#,
        r#"{"a":1,"sent_at":"19:00","trace":{"id":7,"from":"y"},"items":[0,{"seen":1,"n":2},2,3,4]}"#,
        r#"{"a":1,"sent_at":"19:00","trace":{"id":7,"from":"x"},"items":[0,{"seen":1,"n":2},2,3,5]}"#,
        r#"{"a":1,"sent_at":"19:00","trace":{"id":7,"from":"x"},"items":[{"seen":1},{"seen":1,"n":2},2,3,4]}"#,
        r#"{"a":1,"Sent_at":"19:00","trace":{"id":7,"from":"x"},"items":[0,{"seen":1,"n":2},2,3,4]}"#,
        r#"{"a":1,"sent_at":"19:00","items":[0,{"seen":1,"n":2},2,3,4]}"#,
    ] {
        assert_ne!(without(other), first, "{other}");
    }
}

#[test]
fn an_exclusion_that_leads_nowhere_has_no_effect() {
    for text in
        [r#"{"a":1}"#, "[]", "1", "null", r#""/sent_at""#, r#"{"trace":[1],"items":{"x":1}}"#, r#"[{"sent_at":1}]"#]
    {
        assert_eq!(without(text), json(text), "{text}");
    }
    let array = |pointer| {
        let pointers = [JsonPointer::new(pointer).unwrap()];
        Fingerprint::builder().json_without("body", b"[1,2]", &pointers).finish()
    };
    for pointer in ["/-", "/2", "/01", "/+1", "/1/0", "/18446744073709551616"] {
        assert_eq!(array(pointer), json("[1,2]"), "{pointer}");
    }
    assert_eq!(array("/1"), json("[1]"));
}

#[test]
fn in_an_object_digits_and_a_dash_are_names() {
    let pointers = [JsonPointer::declare("/-"), JsonPointer::declare("/01"), JsonPointer::declare("/a~1b/m~0n")];
    let text = br#"{"-":1,"01":2,"1":3,"a/b":{"m~n":4}}"#;
    let left = Fingerprint::builder().json_without("body", text, &pointers).finish();
    assert_eq!(left, json(r#"{"1":3,"a/b":{}}"#));
}

#[test]
fn excluding_one_place_twice_or_below_another_is_excluding_it_once() {
    let [once, below] = [JsonPointer::declare("/trace"), JsonPointer::declare("/trace/id")];
    for pointers in [&[once.clone()][..], &[once.clone(), once.clone()], &[below.clone(), once.clone()], &[once, below]]
    {
        let text = br#"{"a":1,"trace":{"id":7}}"#;
        assert_eq!(Fingerprint::builder().json_without("body", text, pointers).finish(), json(r#"{"a":1}"#));
    }
}

#[test]
fn elements_are_excluded_by_their_index_as_sent() {
    let pointers = [JsonPointer::declare("/0"), JsonPointer::declare("/1")];
    let left = |text: &[u8]| Fingerprint::builder().json_without("body", text, &pointers).finish();
    assert_eq!(left(b"[1,2,3]"), json("[3]"));
    assert_eq!(left(b"[9,9,3]"), json("[3]"));
    assert_ne!(left(b"[3]"), json("[3]"));
}

#[test]
fn exclusions_do_not_reach_into_what_is_no_canonical_json() {
    for text in
        ["sent_at=1", r#"{"sent_at":1,"sent_at":2}"#, r#"{"sent_at":1,"a":9007199254740993}"#, r#"{"sent_at":1"#, ""]
    {
        assert_eq!(without(text), Fingerprint::builder().bytes("body", text.as_bytes()).finish(), "{text}");
    }
}

#[test]
fn the_stored_form_without_exclusions_is_that_of_what_is_left() {
    // The same promise as above: excluding a member stores what a request without it would.
    assert_eq!(
        format!("{:?}", without(r#"{"amount":1200.5,"sent_at":"19:00","currency":"EUR"}"#)),
        "Fingerprint(RmMnN2nrU8fzrrXu_JDChNxpkzImiCea6xwmta8ryFM)"
    );
}

#[test]
fn odd_json_has_a_stable_fingerprint_of_its_own() {
    let deep = "[".repeat(100_000);
    let odd = [
        "",
        " ",
        "\u{feff}{}",
        "{}",
        r#"{"a":1,"a":2}"#,
        r#"{"a":2,"a":1}"#,
        r#"{"a":2}"#,
        "9007199254740993",
        "9007199254740992",
        "9007199254740992.0",
        "1e400",
        "2e400",
        r#""\ud800""#,
        r#""\udbff""#,
        r#""\ufffd""#,
        r#"{"a":1,"A":2}"#,
        r#"{"a":2,"A":1}"#,
        "{\"\u{e9}\":1}",
        "{\"e\u{301}\":1}",
        r#"{"$serde_json::private::Number":"1"}"#,
        r#"{"$serde_json::private::RawValue":"1"}"#,
        "1",
        "NaN",
        "[1] 2",
        &deep,
    ];
    let distinct: std::collections::BTreeSet<_> = odd.iter().map(|text| json(text)).collect();
    assert_eq!(distinct.len(), odd.len());
    assert!(odd.iter().all(|text| json(text) == json(text)));
    let bytes = |text: &[u8]| Fingerprint::builder().json("body", text).finish();
    assert_ne!(bytes(b"\"\xff\""), bytes(b"\"\xfe\""));
}

#[test]
fn bodies_of_six_megabytes_have_a_fingerprint() {
    // The limit of Lambda's synchronous payload (AWS Lambda Developer Guide, "Lambda quotas").
    const SIX_MEGABYTES: usize = 6 * 1024 * 1024;
    let text = format!("\"{}\"", "a".repeat(SIX_MEGABYTES));
    assert_eq!(json(&text), json(&format!(" {text}")));
    // Many values take unoptimised tests seconds, so only one such body is hashed: as JSON, not as bytes.
    let numbers = format!("[{}1]", "1,".repeat(SIX_MEGABYTES / 2));
    assert_ne!(json(&numbers), Fingerprint::builder().bytes("body", numbers.as_bytes()).finish());
    for open in ["[", "{\"a\":", "\\", "\""] {
        let text = open.repeat(SIX_MEGABYTES / open.len());
        assert_eq!(json(&text), Fingerprint::builder().bytes("body", text.as_bytes()).finish());
    }
}
