//! An event of an HTTP trigger: a text that begins as an object does (so `/events` are inputs), or else decisions about what is
//! wrong with a real event.

#![no_main]

use fuzz_checks::{
    Choices,
    events::{Counts, Trigger, check, check_text},
};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let counts = &mut Counts::default();
    match (data, str::from_utf8(data)) {
        ([b'{', ..], Ok(text)) => Trigger::all().iter().for_each(|trigger| check_text(trigger, text, counts)),
        ([first, decisions @ ..], _) => {
            let trigger = &Trigger::all()[usize::from(*first) % Trigger::all().len()];
            check(trigger, &mut Choices::from_bytes(decisions), counts);
        }
        _ => {}
    }
});
