//! An event of a trigger of records: a text that begins as an object does, or else decisions about what is wrong with a real event.

#![no_main]

use fuzz_checks::{
    Choices,
    records::{Counts, RecordTrigger, check, check_text},
};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let counts = &mut Counts::default();
    match (data, str::from_utf8(data)) {
        ([b'{', ..], Ok(text)) => RecordTrigger::all().iter().for_each(|trigger| check_text(trigger, text, counts)),
        ([first, decisions @ ..], _) => {
            let trigger = &RecordTrigger::all()[usize::from(*first) % RecordTrigger::all().len()];
            check(trigger, &mut Choices::from_bytes(decisions), counts);
        }
        _ => {}
    }
});
