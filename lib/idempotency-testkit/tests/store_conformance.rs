//! Goal: the suite passes a store that keeps the contract, sees every way of breaking it, and says which calls do.
//! Method: the store in memory, and the same with one fault each.
#![cfg(feature = "store-conformance")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use idempotency_core::MemoryStore;
use idempotency_testkit::store_conformance::{Config, check};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_conforms_and_every_kind_of_answer_is_seen() {
    let report = check(MemoryStore::default(), &Config::default().cases(256)).await.unwrap();

    println!("{report}");
    let kinds = [
        "another record differs",
        "another record exists",
        "inserted",
        "nothing to replace",
        "own record differs",
        "own record exists",
        "parts missing",
        "parts read",
        "parts stored",
        "replaced",
    ];
    assert_eq!(report.answers.keys().copied().collect::<Vec<_>>(), kinds);
    assert!(report.answers.values().all(|count| *count >= 50), "{report}");
}
