//! The `Idempotency-Key` header. The first byte says where the input is cut into values: one is usual.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((cut, data)) = data.split_first() else { return };
    let values: Vec<&[u8]> = if *cut < 0x80 { vec![data] } else { data.split(|byte| byte == cut).collect() };
    fuzz_checks::key_header::check(&values);
});
