//! Derived keys: what is in them, and what is not.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const CHARGE: Operation = Operation::declare("charge", 1);

#[test]
fn operation_version_and_route_are_in_the_key() {
    let operations = [
        CHARGE,
        Operation::declare("refund", 1),
        Operation::declare("charge", 2),
        Operation::declare("charge1", 1),
        CHARGE.on_route("POST /charges"),
        CHARGE.on_route("POST /refunds"),
    ];
    let keys: BTreeSet<_> = operations.iter().map(|operation| key!(operation; payload = 1).unwrap()).collect();
    assert_eq!(keys.len(), operations.len(), "two operations with the same payload have two keys");
}

#[test]
fn name_and_value_of_a_part_count_and_the_order_does_not() {
    let (user, invoice) = (7, 42);
    let key = key!(CHARGE; user, invoice).unwrap();
    assert_eq!(key!(CHARGE; invoice, user), Ok(key.clone()));
    for other in [
        key!(CHARGE; user = 42, invoice = 7),
        key!(CHARGE; user = 7, order = 42),
        key!(CHARGE; user = 7),
        key!(CHARGE; user = "7", invoice = 42),
        key!(CHARGE; user = 7, invoice = 42, amount = 0),
        key!(CHARGE; user = (7, 42)),
    ] {
        assert_ne!(other.unwrap(), key);
    }
}

#[test]
fn parts_do_not_run_into_each_other() {
    let keys = [
        key!(CHARGE; a = "a", b = "bc"),
        key!(CHARGE; a = "ab", b = "c"),
        key!(CHARGE; ab = "bc", a = "a"),
        key!(CHARGE; a = "as2:bc"),
    ];
    let distinct: BTreeSet<_> = keys.into_iter().map(Result::unwrap).collect();
    assert_eq!(distinct.len(), 4);
}

#[test]
fn the_first_part_without_a_value_is_named() {
    let (user_id, invoice_id, coupon) = (None::<u64>, "", None::<&str>);
    let missing = |part: &str| Err(KeyPartError::Missing { part: part.into() });
    assert_eq!(key!(CHARGE; user_id, invoice_id, coupon), missing("user_id"));
    assert_eq!(key!(CHARGE; coupon, user_id), missing("coupon"));
    assert_eq!(key!(CHARGE; amount = 0, invoice_id), Err(KeyPartError::Empty { part: "invoice_id".into() }));
    let message = key!(CHARGE; user_id).unwrap_err().to_string();
    assert_eq!(message, "the key part `user_id` is missing; a key needs all of its parts");
}

#[test]
fn no_parts_and_one_name_twice_make_no_key() {
    assert_eq!(IdempotencyKey::derived(&CHARGE).finish(), Err(KeyPartError::NoParts));
    assert_eq!(key!(CHARGE; id = 1, id = 2), Err(KeyPartError::Twice { part: "id".into() }));
}

#[test]
fn a_key_fits_every_transport_whatever_its_parts() {
    for length in [1, 255, 256, 1_000_000] {
        let key = key!(CHARGE; text = "é".repeat(length)).unwrap();
        assert_eq!(IdempotencyKey::new(key.as_str()), Ok(key.clone()), "it is a key by the rules for callers");
        assert_eq!(key.as_str().len(), 43);
        assert!(key.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    }
}

#[test]
fn the_stored_form_never_changes() {
    // Keys in flight during an upgrade must stay the same: these values are a promise. They were computed by another program
    // (Python's hashlib) from the description in `key_part/slot.rs`.
    let (user_id, invoice_id) = (7_u64, "INV-42");
    let key = key!(CHARGE; user_id, invoice_id, amount = 1200, express = false, items = ["a", "bc"]).unwrap();
    assert_eq!(key.as_str(), "ttC2eARGnVB3y1uJtMlVf1UAiEox_F6heKDAZfWl-5k");
    let key = key!(CHARGE.on_route("POST /charges"); user_id = -7, pair = ('x', [0_u8, 255])).unwrap();
    assert_eq!(key.as_str(), "--7esFEDb9oMPPXe5acvGjq8t0AoodgwesXGYke5fic");
}

proptest! {
    #[test]
    fn keys_are_equal_exactly_when_their_parts_are(a in parts(), b in parts()) {
        let key = |parts: &[Part]| {
            let builder = IdempotencyKey::derived(&CHARGE);
            let parts = parts.iter().enumerate();
            parts.fold(builder, |builder, (i, part)| builder.part(&format!("p{i}"), part)).finish().unwrap()
        };
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }
}

/// A part of any kind, out of few values, so that equal ones are met.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Integer(i64),
    Bool(bool),
    List(Vec<Part>),
}

impl KeyPart for Part {
    fn encode(&self, slot: crate::PartSlot<'_>) -> Result<crate::EncodedPart, KeyPartError> {
        match self {
            Self::Text(text) => text.encode(slot),
            Self::Integer(integer) => integer.encode(slot),
            Self::Bool(value) => value.encode(slot),
            Self::List(parts) => parts.encode(slot),
        }
    }
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let scalar = prop_oneof![
        "[1:sil]{1,3}".prop_map(Part::Text),
        (0..12_i64).prop_map(Part::Integer),
        any::<bool>().prop_map(Part::Bool),
    ];
    let part = scalar.prop_recursive(2, 6, 2, |inner| prop::collection::vec(inner, 1..3).prop_map(Part::List));
    prop::collection::vec(part, 1..3)
}
