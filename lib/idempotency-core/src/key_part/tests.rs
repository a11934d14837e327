//! Parts: which values are one value, which are not, and which are none.

use std::{borrow::Cow, collections::BTreeSet, num::NonZeroU8, rc::Rc, sync::Arc};

use super::*;
use crate::{ContentId, IdempotencyKey};

/// The id of one part of this value.
fn id(part: &(impl KeyPart + ?Sized)) -> Result<ContentId, KeyPartError> {
    ContentId::builder().part("part", part).finish()
}

fn missing(part: &str) -> Result<ContentId, KeyPartError> {
    Err(KeyPartError::Missing { part: part.into() })
}

fn empty(part: &str) -> Result<ContentId, KeyPartError> {
    Err(KeyPartError::Empty { part: part.into() })
}

#[test]
fn a_missing_empty_or_blank_part_is_an_error_that_names_it() {
    assert_eq!(id(&None::<u64>), missing("part"));
    assert_eq!(id(&Some(None::<&str>)), missing("part"));
    for blank in ["", " ", "\t\n", "\u{a0}", "\u{3000}"] {
        assert_eq!(id(blank), empty("part"), "{blank:?}");
        assert_eq!(id(&Some(blank.to_owned())), empty("part"), "{blank:?}");
    }
    assert_eq!(id(&' '), empty("part"));
    assert_eq!(id(&Vec::<u64>::new()), empty("part"));
    assert_eq!(id(b""), empty("part"));
    assert_eq!(id(&BTreeSet::<u64>::new()), empty("part"));
}

#[test]
fn a_partly_missing_part_is_an_error_that_names_the_element() {
    assert_eq!(id(&[Some(1), None]), missing("part[1]"));
    assert_eq!(id(&("DE", "")), empty("part[1]"));
    assert_eq!(id(&vec![("a", vec!["b", " "])]), empty("part[0][1][1]"));
}

#[test]
fn zero_and_false_are_values() {
    let ids = [id(&0), id(&false), id("0"), id("false"), id(&'0'), id(&[0]), id(&true), id(&1)];
    assert!(ids.iter().all(Result::is_ok));
    assert_eq!(ids[2], ids[4], "a character is text");
    let distinct: BTreeSet<_> = ids.into_iter().flatten().collect();
    assert_eq!(distinct.len(), 7);
}

#[test]
fn integers_count_by_their_value_whatever_their_type() {
    let seven = id(&7_u32);
    for same in
        [id(&7_u8), id(&7_u64), id(&7_u128), id(&7_usize), id(&7_i8), id(&7_i64), id(&7_i128), id(&NonZeroU8::new(7))]
    {
        assert_eq!(same, seven);
    }
    assert_ne!(id(&-7), seven);
    assert_ne!(id(&-1_i64), id(&u64::MAX));
    assert_ne!(id(&i128::MIN), id(&(i128::MIN + 1)));
    assert_ne!(id(&u64::MAX), id(&(u128::from(u64::MAX) + 1)));
    assert_ne!(id(&9_007_199_254_740_993_u64), id(&9_007_199_254_740_992_u64));
}

#[test]
fn what_a_value_is_wrapped_in_does_not_count() {
    let text = id("INV-42");
    let owned = "INV-42".to_owned();
    for same in [
        id(&"INV-42"),
        id(&owned),
        id(&Some(&owned)),
        id(&Box::new(owned.clone())),
        id(&Rc::from("INV-42") as &Rc<str>),
        id(&Arc::from("INV-42") as &Arc<str>),
        id(&Cow::Borrowed("INV-42")),
        id(&Cow::<'_, str>::Owned(owned.clone())),
        id(&IdempotencyKey::new("INV-42").unwrap()),
    ] {
        assert_eq!(same, text);
    }
    assert_eq!(id(&[1, 2]), id(&vec![1_u64, 2]));
    assert_eq!(id(&[1_u8, 2]), id(&BTreeSet::from([2, 1])));
    assert_eq!(id(&(1, 2)), id([1, 2].as_slice()));
}

#[test]
fn values_of_two_kinds_are_two_values() {
    let all = [id(&1), id("1"), id(&true), id("true"), id(&[1]), id(&[[1]]), id("i1:1"), id("l1:i1:1"), id(&["1"])];
    let distinct: BTreeSet<_> = all.into_iter().map(Result::unwrap).collect();
    assert_eq!(distinct.len(), 9);
}

#[test]
fn elements_do_not_run_into_each_other() {
    let all = [
        id(&["a", "bc"]),
        id(&["ab", "c"]),
        id(&["abc"]),
        id(&["c", "ab"]),
        id(&[vec!["a"], vec!["bc"]]),
        id(&[vec!["a", "bc"]]),
        id(&["a1:", "bc"]),
        id(&["a", "1:bc"]),
        id(&("a", "b", "c")),
        // Equal if nothing but the kind (`s`) stood between elements.
        id(&["a", "sb"]),
        id(&["as", "b"]),
    ];
    let distinct: BTreeSet<_> = all.into_iter().map(Result::unwrap).collect();
    assert_eq!(distinct.len(), 11);
}

#[test]
fn text_counts_as_it_is() {
    let all = [id("a"), id("A"), id(" a"), id("a "), id("\u{e9}"), id("e\u{301}"), id("1"), id("01"), id("1.0")];
    let distinct: BTreeSet<_> = all.into_iter().map(Result::unwrap).collect();
    assert_eq!(distinct.len(), 9);
}

#[test]
fn a_type_of_ones_own_says_itself_when_it_is_missing() {
    struct Customer(u64);
    impl KeyPart for Customer {
        fn encode(&self, slot: PartSlot<'_>) -> Result<EncodedPart, KeyPartError> {
            if self.0 == 0 { Err(slot.missing()) } else { self.0.encode(slot) }
        }
    }
    assert_eq!(id(&Customer(7)), id(&7));
    assert_eq!(id(&[Customer(7), Customer(0)]), missing("part[1]"));
}
