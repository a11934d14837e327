//! Atomic operations: two balances and a row of the ledger commit with the response, in one request.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
};

use futures::{StreamExt, stream};
use idempotency_cli::StackOptions;
use idempotency_core::Status;
use idempotency_testkit::fault_proxy::{Fault, Rule};
use reqwest::Method;
use serde_json::json;

use crate::{
    effects_world::TENANT,
    policy::Policy,
    world::{Answer, World},
};

impl World {
    async fn with_accounts() -> Self {
        let world = Self::start().await;
        world.open_account("a", 1000).await;
        world.open_account("b", 0).await;
        world.stack.proxy().clear_requests();
        world
    }

    fn requests(&self) -> Vec<String> {
        let requests = self.stack.proxy().requests();
        self.stack.proxy().clear_requests();
        requests.into_iter().map(|request| request.operation).collect()
    }

    async fn balances(&self) -> (i64, i64) {
        let balances = (self.balance("a").await, self.balance("b").await);
        self.stack.proxy().clear_requests();
        balances
    }
}

#[tokio::test]
async fn a_fresh_transfer_is_one_request_and_a_replay_is_one() {
    let world = World::with_accounts().await;
    let first = world.transfer("t-1", "a", "b", 300).await;
    assert_eq!((first.status, first.json()["amount"].as_u64()), (201, Some(300)));
    Policy::of("PaymentsApi").assert_allows(&world.stack.proxy().requests(), &["TransactWriteItems"]);
    assert_eq!(world.requests(), ["TransactWriteItems"], "fresh");
    assert_eq!(world.balances().await, (700, 300));

    let again = world.transfer("t-1", "a", "b", 300).await;
    first.assert_replayed_by(&again);
    assert_eq!(world.requests(), ["TransactWriteItems"], "replay");
    assert_eq!(world.balances().await, (700, 300));
    let record = world.record().await;
    assert_eq!((record.status, record.attempt.get()), (Status::Completed, 1));
    assert_eq!(world.items("ledger").await.len(), 1);
    world.stop().await;
}

#[tokio::test]
async fn the_same_key_with_another_amount_is_refused_and_moves_nothing() {
    let world = World::with_accounts().await;
    assert_eq!(world.transfer("t-1", "a", "b", 300).await.status, 201);
    let other = world.transfer("t-1", "a", "b", 301).await;
    assert_eq!((other.status, other.problem().as_str()), (422, "mismatch"));
    assert_eq!(world.balances().await, (700, 300));
    world.stop().await;
}

#[tokio::test]
async fn an_account_that_no_transfer_can_name_or_no_answer_can_show_is_not_opened() {
    let world = World::start().await;
    let headers = [("x-tenant-id", TENANT), ("content-type", "application/json")];
    let open = async |account: &str, balance: u64| {
        let body = json!({ "balance": balance }).to_string().into_bytes();
        world.send(Method::PUT, &format!("/accounts/{account}"), &headers, body).await
    };
    let too_long = "a".repeat(65);
    for (account, balance) in [("a.b", 1), ("a%20b", 1), (too_long.as_str(), 1), ("a", u64::MAX)] {
        let refused = open(account, balance).await;
        assert_eq!((refused.status, refused.problem().as_str()), (400, "request-invalid"), "{account} {refused:?}");
    }
    assert_eq!(world.items("accounts").await.len(), 0);
    assert_eq!(open("a_b-1", 999_999_999_999).await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn a_transfer_that_is_refused_moves_nothing_and_stays_refused() {
    let world = World::with_accounts().await;
    for (key, from, to, status) in
        [("t-1", "b", "a", 402), ("t-2", "a", "x", 404), ("t-3", "x", "a", 404), ("t-4", "a", "a", 400)]
    {
        let refused = world.transfer(key, from, to, 300).await;
        assert_eq!(refused.status, status, "{refused:?}");
        assert_eq!(world.balances().await, (1000, 0));
        // Money that comes later does not change the answer under this key, as for a card that was declined.
        let again = world.transfer(key, from, to, 300).await;
        refused.assert_replayed_by(&again);
    }
    assert_eq!(world.items("ledger").await.len(), 0);
    assert!(world.records().await.iter().all(|record| record.status == Status::Failed));
    world.stop().await;
}

#[tokio::test]
async fn a_lost_reply_is_repeated_and_moves_the_money_once() {
    for fault in [Fault::DropAfter, Fault::DropBefore, Fault::ErrorAfter, Fault::ResetAfter] {
        let world = World::with_accounts().await;
        world.stack.proxy().inject(Rule::on("TransactWriteItems").fault(fault));
        let first = world.transfer("t-1", "a", "b", 300).await;
        assert_eq!((first.status, first.is_replay()), (201, false), "{first:?}");
        assert_eq!(world.requests().len(), 2, "the request and its repetition");
        assert_eq!(world.balances().await, (700, 300));
        first.assert_replayed_by(&world.transfer("t-1", "a", "b", 300).await);
        world.stop().await;
    }
}

/// Another transaction is at work on the same item.
fn conflict() -> Fault {
    let reasons =
        json!([{ "Code": "None" }, { "Code": "TransactionConflict" }, { "Code": "None" }, { "Code": "None" }]);
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict, None, None]",
        "CancellationReasons": reasons,
    });
    Fault::Answer { status: 400, body }
}

#[tokio::test]
async fn what_is_in_the_way_for_a_moment_is_tried_again() {
    let world = World::with_accounts().await;
    world.stack.proxy().inject(Rule::on("TransactWriteItems").times(3).fault(conflict()));
    assert_eq!(world.transfer("t-1", "a", "b", 300).await.status, 201);
    assert_eq!(world.requests(), ["TransactWriteItems"; 4]);
    assert_eq!(world.balances().await, (700, 300));
    world.stop().await;
}

#[tokio::test]
async fn a_store_that_is_down_is_told_and_the_repeated_request_takes_effect_once() {
    let options = StackOptions { timeout: std::time::Duration::from_secs(2), ..StackOptions::default() };
    let world = World::with_timeout(options).await;
    world.open_account("a", 1000).await;
    world.open_account("b", 0).await;
    world.stack.proxy().inject(Rule::on("TransactWriteItems").forever().fault(Fault::DropAfter));
    let told = world.transfer("t-1", "a", "b", 300).await;
    assert_eq!((told.status, told.problem().as_str()), (503, "not-committed"), "{told:?}");
    assert!(told.headers.contains_key("retry-after"));
    world.stack.proxy().clear_rules();
    // The first had committed without anybody knowing.
    let again = world.transfer("t-1", "a", "b", 300).await;
    assert_eq!((again.status, again.is_replay()), (201, true));
    assert_eq!(world.balances().await, (700, 300));
    world.stop().await;
}

/// How many accounts, transfers, and requests beyond one per transfer.
const ACCOUNTS: u64 = 20;
const TRANSFERS: u64 = 1000;
const DUPLICATES: u64 = 300;

#[tokio::test]
async fn a_thousand_concurrent_transfers_with_duplicates_keep_the_sum_of_balances() {
    let world = World::with(StackOptions { concurrency: 16, ..StackOptions::default() }).await;
    for account in 0..ACCOUNTS {
        world.open_account(&format!("acc-{account}"), 1000).await;
    }
    world.stack.proxy().clear_requests();
    // The embedded engine carries out one transaction after the other; every tenth meets another one, as on DynamoDB.
    let counted = AtomicU64::new(0);
    let tenth = move |_: &_| counted.fetch_add(1, Ordering::SeqCst) % 10 == 9;
    world.stack.proxy().inject(Rule::on("TransactWriteItems").when(tenth).forever().fault(conflict()));
    let send = async |number: u64| {
        let (from, to) = (number % ACCOUNTS, (number * 7 + 3) % ACCOUNTS);
        let to = if from == to { (to + 1) % ACCOUNTS } else { to };
        let (from, to) = (format!("acc-{from}"), format!("acc-{to}"));
        loop {
            let answer = world.transfer(&format!("t-{number}"), &from, &to, number % 90 + 1).await;
            if !matches!(answer.status, 409 | 503) {
                return (number, answer);
            }
        }
    };
    // Each duplicate is close behind its first.
    let numbers =
        (0..TRANSFERS).flat_map(|number| vec![number; if number % (TRANSFERS / DUPLICATES) == 0 { 2 } else { 1 }]);
    let answers: Vec<(u64, Answer)> = stream::iter(numbers.map(send)).buffer_unordered(32).collect().await;

    let mut fresh = HashSet::new();
    for (number, answer) in &answers {
        assert!(matches!(answer.status, 201 | 402), "{answer:?}");
        assert!(answer.is_replay() || fresh.insert(*number), "transfer {number} took effect twice");
        let same = answers.iter().find(|(other, _)| other == number).unwrap();
        assert_eq!(same.1.body, answer.body);
    }
    let moved: HashSet<u64> =
        answers.iter().filter(|(_, answer)| answer.status == 201).map(|(number, _)| *number).collect();
    assert!(moved.len() > 500, "{} of {TRANSFERS} moved money", moved.len());
    assert_eq!(world.items("ledger").await.len(), moved.len());
    let accounts = world.items("accounts").await;
    let sum: i64 = accounts.iter().map(|account| account["balance"].as_i64().unwrap()).sum();
    assert_eq!(sum, i64::try_from(1000 * ACCOUNTS).unwrap());
    assert!(accounts.iter().all(|account| account["balance"].as_i64().unwrap() >= 0));
    world.stop().await;
}
