//! An event of an HTTP trigger: any text, or a real event about which the input decides what is wrong with it.

#![no_main]

use fuzz_checks::{
    Choices,
    events::{Counts, Trigger, check, check_text},
};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let all = Trigger::all();
    let trigger = &all[usize::from(*first >> 1) % all.len()];
    match (first & 1, std::str::from_utf8(rest)) {
        (1, Ok(text)) => check_text(trigger, text, &mut Counts::default()),
        _ => drop(check(trigger, &mut Choices::from_bytes(rest), &mut Counts::default())),
    }
});
