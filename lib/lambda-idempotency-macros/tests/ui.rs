//! Goal: every diagnostic of the macro points at the user's own token and says what to do.
//!
//! Method: one file per diagnostic and what the compiler says about it. The macro refuses each before any name of
//! `lambda-idempotency` matters; `ui/names.rs` declares those that the fallback function mentions, so that this test does not
//! compile the AWS SDK a second time.

#[test]
fn diagnostics() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/*/*.rs");
}
