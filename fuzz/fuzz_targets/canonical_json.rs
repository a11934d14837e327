//! Canonical JSON, from any text.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_checks::canonical_json::check(data));
