//! Goal: of two regions, each with a replica of the table, one claims a key. Method: two stacks stand for two regions, each with a table of its own;
//! replication is copying the items of one into the other, when the test says so.

use aws_sdk_dynamodb::Client;
use idempotency_cli::{Stack, StackOptions};
use idempotency_testkit::payment_provider::Behaviour;
use reqwest::Method;

use crate::world::{Charge, World};

const IRELAND: &str = "eu-west-1";
const VIRGINIA: &str = "us-east-1";

async fn region(here: &str, home: Option<&str>, variables: &[(&str, &str)]) -> World {
    let options = StackOptions::default().env("AWS_REGION", here).env("AWS_DEFAULT_REGION", here);
    let options = home.iter().fold(options, |options, home| options.env("IDEMPOTENCY_HOME_REGION", home));
    World::with(variables.iter().fold(options, |options, (name, value)| options.env(name, value))).await
}

/// What replication does to items that only one region has written.
async fn replicate(from: &Client, to: &Client) -> usize {
    let items = from.scan().table_name(Stack::TABLE).send().await.unwrap().items.unwrap_or_default();
    for item in &items {
        to.put_item().table_name(Stack::TABLE).set_item(Some(item.clone())).send().await.unwrap();
    }
    items.len()
}

#[tokio::test]
async fn without_a_home_region_two_regions_both_claim_one_key() {
    let (ireland, virginia) = (region(IRELAND, None, &[]).await, region(VIRGINIA, None, &[]).await);
    let charge = Charge::new("order-42");
    assert_eq!(ireland.charge(&charge).await.status, 201);
    // Before the replica has the record.
    assert_eq!(virginia.charge(&charge).await.status, 201);
    assert_eq!((ireland.charges(), virginia.charges()), (1, 1), "two effects of one operation, and nobody was told");
    ireland.stop().await;
    virginia.stop().await;
}

#[tokio::test]
async fn with_one_only_the_home_claims_and_the_other_refuses_before_it_asks_its_store() {
    let home = Some(IRELAND);
    let (ireland, virginia) = (region(IRELAND, home, &[]).await, region(VIRGINIA, home, &[]).await);
    let charge = Charge::new("order-42");
    for _ in 0..2 {
        let refused = virginia.charge(&charge).await;
        assert_eq!((refused.status, refused.problem().as_str()), (421, "misdirected"));
        assert!(refused.json()["detail"].as_str().unwrap().contains(IRELAND), "{refused:?}");
    }
    assert!(virginia.store_requests().is_empty());
    let first = ireland.charge(&charge).await;
    assert_eq!(first.status, 201);
    first.assert_replayed_by(&ireland.charge(&charge).await);
    // A replica has the record a moment later. It is the home's all the same.
    assert_eq!(replicate(&ireland.stack.dynamodb(), &virginia.stack.dynamodb()).await, 1);
    assert_eq!(virginia.charge(&charge).await.status, 421);
    assert_eq!((ireland.charges(), virginia.charges()), (1, 0));
    ireland.stop().await;
    virginia.stop().await;
}

#[tokio::test]
async fn a_region_that_is_not_home_says_nothing_of_a_request_in_flight() {
    let variables = [("IN_FLIGHT", "accepted")];
    let (ireland, virginia) =
        (region(IRELAND, Some(IRELAND), &variables).await, region(VIRGINIA, Some(IRELAND), &variables).await);
    assert_eq!(ireland.charge(&Charge::new("order-42")).await.status, 201);
    let path = "/charges/idempotency/create-charge/order-42";
    assert_eq!(ireland.get(path, "tenant-7").await.status, 201);
    let refused = virginia.get(path, "tenant-7").await;
    // 404 would invite to send it again.
    assert_eq!((refused.status, refused.problem().as_str()), (421, "misdirected"));
    assert!(virginia.store_requests().is_empty());
    ireland.stop().await;
    virginia.stop().await;
}

#[tokio::test]
async fn a_new_home_replays_what_was_replicated_and_repeats_what_was_not() {
    let ireland = region(IRELAND, Some(IRELAND), &[]).await;
    let first = ireland.charge(&Charge::new("replicated")).await;
    assert_eq!(first.status, 201);
    let virginia = region(VIRGINIA, Some(VIRGINIA), &[]).await;
    assert_eq!(replicate(&ireland.stack.dynamodb(), &virginia.stack.dynamodb()).await, 1);
    // Ireland is cut off with this one.
    assert_eq!(ireland.charge(&Charge::new("left-behind")).await.status, 201);

    first.assert_replayed_by(&virginia.charge(&Charge::new("replicated")).await);
    assert_eq!(virginia.charges(), 0);
    // This is what the guide says may run twice.
    assert_eq!(virginia.charge(&Charge::new("left-behind")).await.status, 201);
    assert_eq!(virginia.charges(), 1);
    ireland.stop().await;
    virginia.stop().await;
}

#[tokio::test]
async fn what_was_in_flight_in_the_former_home_stays_uncertain_under_reject() {
    let reject = [("ON_ABANDONED", "reject")];
    let ireland = region(IRELAND, Some(IRELAND), &reject).await;
    ireland.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
    let lost = ireland.charge(&Charge::new("order-42")).await;
    assert!(lost.status >= 500, "{lost:?}");
    let virginia = region(VIRGINIA, Some(VIRGINIA), &reject).await;
    assert_eq!(replicate(&ireland.stack.dynamodb(), &virginia.stack.dynamodb()).await, 1);
    assert_eq!(virginia.charge(&Charge::new("order-42")).await.problem(), "conflict", "its lease counts here, too");
    virginia.end_the_lease().await;
    assert_eq!(virginia.charge(&Charge::new("order-42")).await.problem(), "outcome-unknown");
    assert_eq!(virginia.charges(), 0);
    ireland.stop().await;
    virginia.stop().await;
}

#[tokio::test]
async fn what_needs_no_key_is_served_in_every_region_and_so_is_everything_that_is_not_protected() {
    let virginia = region(VIRGINIA, Some(IRELAND), &[("IDEMPOTENCY_MODE", "shadow")]).await;
    assert_eq!(virginia.charge(&Charge::new("order-42")).await.status, 201);
    assert!(virginia.log().contains("misdirected"), "it says what would have been refused");
    assert!(virginia.store_requests().is_empty());
    virginia.stop().await;
    let virginia = region(VIRGINIA, Some(IRELAND), &[]).await;
    let headers = [("x-tenant-id", "tenant-7")];
    assert_ne!(virginia.send(Method::GET, "/charges/ch_1", &headers, vec![]).await.status, 421);
    virginia.stop().await;
}
