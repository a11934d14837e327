//! Goal: what differs between retries does not compile as a part of a key, and the compiler says why and what to do instead.
//!
//! Method: one file per refused type and what the compiler says about it.

#[test]
fn refused_key_parts() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/key_parts/*.rs");
}
