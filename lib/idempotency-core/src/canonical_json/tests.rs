//! The canonical form against RFC 8785, and what has none.

use super::*;

fn canonical(text: &str) -> Option<String> {
    canonical_json(text.as_bytes()).ok().map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn the_example_of_rfc_8785_section_3_2_2() {
    let numbers = "333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001";
    let text = |numbers: &str| {
        format!(
            r#"{{"numbers": [{numbers}], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}}"#
        )
    };
    let expected = |numbers: &str| {
        format!(
            "{{\"literals\":[null,true,false],\"numbers\":[{numbers}],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}}"
        )
    };
    // 1E30 is beyond 2^53 - 1: RFC 8785 has a form for it, but a longer integer may be the same double, so this text has none here.
    assert_eq!(canonical(&text(numbers)), None);
    let safe = numbers.replace(" 1E30,", "");
    assert_eq!(canonical(&text(&safe)), Some(expected("333333333.3333333,4.5,0.002,1e-27")));
}

#[test]
fn the_example_of_rfc_8785_section_3_2_3() {
    // Sorting is by UTF-16 code units: the emoji (a surrogate pair) stands before U+FB33.
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
        "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\
        \"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
    assert_eq!(canonical(text).as_deref(), Some(expected));
}

#[test]
fn the_numbers_of_rfc_8785_appendix_b() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let value = f64::from_bits(bits);
        let written = serde_json_canonicalizer::to_vec(&IJson::Float(value)).unwrap();
        assert_eq!(str::from_utf8(&written), Ok(expected), "{bits:016x}");
        // And read: the spelling with 17 digits gives the same form, or none where two integers may be one double.
        let safe = (value.abs() <= MAX_SAFE_INTEGER as f64).then(|| expected.to_owned());
        assert_eq!(canonical(&format!("{value:.16e}")), safe, "{bits:016x}");
        assert_eq!(canonical(expected), safe, "{bits:016x}");
    }
    for not_a_number in ["NaN", "Infinity", "-Infinity"] {
        assert_eq!(canonical(not_a_number), None);
    }
}

#[test]
fn order_white_space_spelling_and_escapes_do_not_count() {
    assert_eq!(canonical(r#"{ "a":1e2, "b":"\u00e9" }"#), canonical(r#"{"b":"é","a":100}"#));
    assert_eq!(canonical("\t[1 ,\r\n2]\n"), canonical("[1,2]"));
    for same in ["1.0", "10e-1", "0.1E+1", "1.00000000000000000000001"] {
        assert_eq!(canonical(same).as_deref(), Some("1"), "{same}");
    }
    for same in ["0", "-0", "-0.0", "0e9", "1e-400", "-1e-400"] {
        assert_eq!(canonical(same).as_deref(), Some("0"), "{same}");
    }
    assert_eq!(canonical(r#""\ud83d\ude00\/\u0041""#), canonical("\"😀/A\""));
}

#[test]
fn different_values_have_different_forms() {
    let all = [
        "null",
        "0",
        "\"\"",
        "false",
        "{}",
        "[]",
        "[null]",
        r#"{"a":null}"#,
        r#"{"a":""}"#,
        r#"{"":"a"}"#,
        r#"["a"]"#,
        "1",
        "\"1\"",
        "true",
        "\"true\"",
        r#"{"a":1,"A":2}"#,
        r#"{"a":2,"A":1}"#,
        r#"{"\u00e9":1}"#,
        r#"{"e\u0301":1}"#,
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "0.1",
        "0.2",
        "9007199254740991",
        "9007199254740990",
        "-9007199254740991",
        r#""\u0000""#,
        r#""\\u0000""#,
    ];
    let forms: std::collections::BTreeSet<_> = all.iter().map(|text| canonical(text).unwrap()).collect();
    assert_eq!(forms.len(), all.len());
}

#[test]
fn texts_that_parsers_read_differently_have_no_canonical_form() {
    for text in [
        // Twice in one object, also by escapes and deeper down.
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"[{"b":{"a":1,"a":2}}]"#,
        // Integers that may be one double with another.
        "9007199254740992",
        "-9007199254740993",
        "18446744073709551615",
        "123456789012345678901234567890",
        "9007199254740992.0",
        "1e16",
        "1e400",
        "-1e400",
        // Not Unicode.
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        r#"{"\ud800":1}"#,
        // What serde_json uses inside.
        r#"{"$serde_json::private::Number":"1"}"#,
        r#"{"\u0024serde_json::private::Number":"1"}"#,
        r#"{"$serde_json::private::Number":"\u0031"}"#,
        r#"{"$serde_json::private::Number":1}"#,
        r#"{"a":1,"$serde_json::private::Number":"1"}"#,
        // Not JSON.
        "",
        " ",
        "{",
        "1 2",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "01",
        "+1",
        ".5",
        "1.",
        "// comment\n1",
        "\u{feff}1",
        "\u{0}",
        "\"\t\"",
        "tru",
    ] {
        assert_eq!(canonical(text), None, "{text}");
    }
    assert!(canonical_json(b"\"\xff\"").is_err() && canonical_json(b"\"\xc0\x80\"").is_err());
}

#[test]
fn nesting_has_a_limit_and_uses_no_more_stack_than_that() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(canonical(&nested(127)), Some(nested(127)));
    assert_eq!(canonical(&nested(128)), None);
    assert_eq!(canonical(&nested(1_000_000)), None);
    assert_eq!(canonical(&"{\"a\":".repeat(1_000_000)), None);
}

#[test]
fn numbers_are_read_whatever_form_serde_json_hands_them_over_in() {
    assert_eq!(canonical("1.2e3").as_deref(), Some("1200"));
    assert_eq!(canonical("0.1").as_deref(), Some("0.1"));
    // Needs exact parsing of floats (the feature `float_roundtrip`): the next double is another number.
    assert_eq!(canonical("51.24817837550540").as_deref(), Some("51.2481783755054"));
}

#[test]
fn a_number_handed_over_as_a_map_is_read_and_a_callers_map_of_the_same_look_is_not() {
    use serde::de::value::{BorrowedStrDeserializer, Error, MapAccessDeserializer, MapDeserializer, StrDeserializer};
    fn read<'a, V: serde::de::IntoDeserializer<'a, Error>>(value: V) -> Option<IJson> {
        let members = [(BorrowedStrDeserializer::new(NUMBER), value)];
        IJson::deserialize(MapAccessDeserializer::new(MapDeserializer::new(members.into_iter()))).ok()
    }
    // With the feature `arbitrary_precision` on: `serde_json` hands the spelling over as a `String` of its own.
    for (literal, value) in [("1", 1.0), ("-0", 0.0), ("1.50", 1.5), ("51.24817837550540", 51.2481783755054)] {
        let form = |value| serde_json_canonicalizer::to_vec(&value).unwrap();
        assert_eq!(form(read(literal.to_owned()).unwrap()), form(IJson::Float(value)), "{literal}");
    }
    for literal in ["9007199254740992", "1e400", "NaN", ""] {
        assert_eq!(read(literal.to_owned()), None, "{literal}");
    }
    // With the feature on or off: a string in the text is borrowed from it, or from the buffer of its escapes.
    assert_eq!(read(BorrowedStrDeserializer::new("1")), None);
    assert_eq!(read(StrDeserializer::new("1")), None);
}

#[test]
fn the_largest_safe_integers_stay_exact() {
    assert_eq!(canonical("9007199254740991").as_deref(), Some("9007199254740991"));
    assert_ne!(canonical("9007199254740991"), canonical("9007199254740990"));
}
