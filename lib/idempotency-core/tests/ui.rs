//! Goal: what would break a promise does not compile, and the compiler says why: what differs between retries as a part of a key; a
//! claim that was not proven, is changed or ends twice; times of different units. (Windows that cannot be are `compile_fail` examples of
//! `Window::declare`: what the compiler says about constants depends on how it was installed.)
//!
//! Method: one file per mistake and what the compiler says about it.

#[test]
fn refused_key_parts() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/key_parts/*.rs");
}

#[test]
fn mistakes_with_claims() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/claims/*.rs");
}

#[test]
fn mistakes_with_times() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/times/*.rs");
}
