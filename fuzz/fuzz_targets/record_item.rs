//! A record's item. The input decides what is wrong with it.

#![no_main]

use fuzz_checks::{Choices, record_item};

libfuzzer_sys::fuzz_target!(|data: &[u8]| record_item::check(&record_item::mutated(&mut Choices::from_bytes(data))));
