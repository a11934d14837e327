//! The `Idempotency-Key` header.

use fuzz_checks::key_header::{check, check_spellings};
use proptest::{collection::vec, prelude::*};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_bytes_are_read_as_the_rules_say(values in vec(vec(any::<u8>(), 0..300), 0..3)) {
        check(&values.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }

    #[test]
    fn nearly_right_values_are_read_as_the_rules_say(
        value in r#"[ \t]?("?[!-~]{0,6}"?|"([!-~]|\\"|\\\\|\\x){0,6}"(;[a-z]=1)?|,|"?[a-z]{253,257}"?)[ \t]?"#,
        again in any::<bool>(),
    ) {
        let values = [value.as_bytes(), value.as_bytes()];
        check(&values[..if again { 2 } else { 1 }]);
    }

    #[test]
    fn whatever_a_conforming_client_writes_is_its_key(key in "[!-~]{1,255}") {
        check_spellings(&key);
    }
}
