//! Goal: every diagnostic of the macro points at the user's own token and says what to do.
//!
//! Method: one file per diagnostic and what the compiler says about it. Most are refused by the macro before any name of
//! `lambda-idempotency` matters; `ui/names.rs` declares those that the fallback function mentions. Those about types, in `ui/types`,
//! are about the real traits: `ui/crate.rs` compiles the modules of `lambda-idempotency` that have them. Neither compiles the AWS
//! SDK a second time.

#[test]
fn diagnostics() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/*/*.rs");
}
