//! A stored result: codec byte, compression, head, body.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_checks::stored_result::check(data));
