//! Which numbers of a stored result come back as they went in.

/// Whether all numbers of a JSON text are such as every type that reads them can keep: integers of 64 bits, and fractions that are the
/// shortest form of a double. Of others a `serde_json::Value` or an `f64` would be another number without a word.
pub(super) fn keeps_its_numbers(json: &str) -> bool {
    let mut number = String::new();
    let (mut in_text, mut is_escaped) = (false, false);
    for char in json.chars().chain([' ']) {
        if in_text {
            in_text = is_escaped || char != '"';
            is_escaped = !is_escaped && char == '\\';
            continue;
        }
        match char {
            '-' | '0'..='9' => number.push(char),
            '+' | '.' | 'e' | 'E' if !number.is_empty() => number.push(char),
            _ if !number.is_empty() && !is_kept(&number) => return false,
            _ => {
                number.clear();
                in_text = char == '"';
            }
        }
    }
    true
}

fn is_kept(number: &str) -> bool {
    if number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return true;
    }
    let is_integer = !number.contains(['.', 'e', 'E']);
    let double = number.parse::<f64>().ok().filter(|double| !is_integer && double.is_finite());
    double.is_some_and(|double| parts(number) == parts(&format!("{double:e}")))
}

/// Sign, digits and exponent, the same for all ways to write a number; `None` where the exponent is beyond all reason.
fn parts(number: &str) -> Option<(bool, String, i64)> {
    let (is_negative, number) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    let places = |count: usize| i64::try_from(count).ok();
    let exponent = match significant {
        "" => 0,
        _ => {
            let shifted = exponent.parse::<i64>().ok()?.checked_sub(places(fraction.len())?)?;
            shifted.checked_add(places(digits.len() - significant.len())?)?
        }
    };
    Some((is_negative, significant.to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_a_double_or_64_bits_hold_are_kept() {
        for kept in [
            "0",
            "-0",
            "-0.0",
            "18446744073709551615",
            "-9223372036854775808",
            "12.5",
            "12.50",
            "0.1",
            "1e3",
            "1E-7",
            "1.7976931348623157e308",
            "0.30000000000000004",
            "5e-324",
            "[1,2.25,{\"a\":true}]",
            "true",
            "null",
            r#""123456789012345678901234567890 \" 1e400""#,
            r#"{"0.12345678901234567890\\":1}"#,
        ] {
            assert!(keeps_its_numbers(kept), "{kept}");
        }
    }

    #[test]
    fn numbers_that_would_be_others_are_not() {
        for changed in [
            "123456789012345678901234567890",
            "18446744073709551616",
            "-9223372036854775809",
            "100000000000000000000",
            "0.12345678901234567890",
            "12345678901234567890.5",
            "1e400",
            "1e-400",
            "1.00000000000000000001",
            "1e99999999999999999999",
            r#"{"a":[1,{"b":123456789012345678901234567890}]}"#,
            r#"["\\",1e400]"#,
        ] {
            assert!(!keeps_its_numbers(changed), "{changed}");
        }
    }
}
