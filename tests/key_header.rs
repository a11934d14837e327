//! The `Idempotency-Key` header, through the whole stack.

use crate::world::{Charge, World};

#[tokio::test]
async fn a_missing_empty_blank_duplicate_overlong_or_broken_key_is_refused_and_stores_nothing() {
    let world = World::start().await;
    let overlong = "k".repeat(256);
    let rows: [(&[&str], &str); 8] = [
        (&[], "key-missing"),
        (&[""], "key-missing"),
        (&["   "], "key-missing"),
        (&["\"\""], "key-missing"),
        (&["order-42", "order-43"], "key-invalid"),
        (&["order-42", "order-42"], "key-invalid"),
        (&[&overlong], "key-invalid"),
        (&["\"order-42"], "key-invalid"),
    ];
    for (keys, problem) in rows {
        let answer = world.charge(&Charge::new("any").keys(keys)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, problem), "{keys:?}");
    }
    assert_eq!(world.charges(), 0);
    assert_eq!(world.store_requests(), []);
    world.stop().await;
}

#[tokio::test]
async fn quoted_and_bare_spellings_are_one_key() {
    let world = World::start().await;
    let bare = world.charge(&Charge::new("order-42")).await;
    bare.assert_replayed_by(&world.charge(&Charge::new("\"order-42\"")).await);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_key_of_255_characters_works_and_a_longer_one_is_not_cut_to_it() {
    let world = World::start().await;
    let longest = "k".repeat(255);
    assert_eq!(world.charge(&Charge::new(&longest)).await.status, 201);
    assert_eq!(world.charge(&Charge::new(&format!("{longest}k"))).await.status, 400);
    assert_eq!(world.charges(), 1);
    world.stop().await;
}
