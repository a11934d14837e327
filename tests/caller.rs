//! The toolkit's own caller before the toolkit's own function, with a wire between them that loses replies: one charge, and the right
//! answer.

use std::time::Duration;

use futures::future::join;
use idempotency_core::Status;
use idempotency_testkit::{
    fault_proxy::{Fault, FaultProxy, Rule},
    payment_provider::Behaviour,
};
use lambda_idempotency::{
    IdempotencyKey,
    client::{
        ClientError, Idempotent, Resolved, RetryPolicy,
        reqwest::{self, Response},
        reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error},
    },
    propagation,
};
use serde_json::{Value, json};

use crate::world::{PATIENCE, World};

/// Waits that a test has time for.
fn policy() -> RetryPolicy {
    let waits = (Duration::from_millis(1), Duration::from_millis(20));
    RetryPolicy::new().waits(waits.0, waits.1).attempt_timeout(PATIENCE).circuit_breaker(None)
}

fn client(policy: RetryPolicy) -> ClientWithMiddleware {
    ClientBuilder::new(reqwest::Client::new()).with(Idempotent::new(policy).unwrap()).build()
}

/// Charges, by tenant-7, at the function that is reached by `url`.
async fn charge(policy: RetryPolicy, url: &str, key: Option<&IdempotencyKey>, amount: u64) -> Result<Response, Error> {
    let body = json!({ "amount": amount, "currency": "EUR", "customer": "cus_42" });
    let request = client(policy).post(format!("{url}/charges")).header("x-tenant-id", "tenant-7").json(&body);
    let key = key.map(propagation::http_header);
    key.into_iter().fold(request, |request, (name, value)| request.header(name, value)).send().await
}

fn failure<T>(result: Result<Response, Error>, look: impl FnOnce(&ClientError) -> T) -> T {
    let error = result.unwrap_err();
    look(ClientError::of(&error).unwrap_or_else(|| panic!("{error:?}")))
}

/// Asserts that this is the charge, and gives how many attempts it took and whether the answer is a replay.
async fn charged(result: Result<Response, Error>, amount: u64) -> (u32, bool) {
    let response = result.unwrap();
    assert_eq!(response.status(), 201);
    let (attempts, replayed) = (
        Resolved::of(&response).unwrap().attempts(),
        response.headers().get("idempotent-replayed").is_some_and(|value| value == "true"),
    );
    assert_eq!(response.json::<Value>().await.unwrap()["amount"], amount);
    (attempts, replayed)
}

#[tokio::test]
async fn whatever_the_wire_to_the_function_does_there_is_one_charge_and_its_answer() {
    let faults = [
        (Fault::DropAfter, true),
        (Fault::ResetAfter, true),
        (Fault::ErrorAfter, true),
        (Fault::DropBefore, false),
        (Fault::ResetBefore, false),
        (Fault::ErrorBefore, false),
    ];
    let world = World::start().await;
    let wire = FaultProxy::start(world.stack.url()).await.unwrap();
    for (n, (fault, replayed)) in (0_usize..).zip(faults) {
        wire.inject(Rule::any().times(2).fault(fault.clone()));
        let amount = 1200 + n as u64;
        let answer = charged(charge(policy(), wire.endpoint_url(), None, amount).await, amount).await;
        assert_eq!(answer, (3, replayed), "{fault:?}");
        assert_eq!((world.charges(), world.records().await.len()), (n + 1, n + 1), "{fault:?}");
    }
    wire.stop().await;
    world.stop().await;
}

#[tokio::test]
async fn a_function_that_cannot_reach_its_store_is_asked_again() {
    let world = World::start().await;
    // As often as the SDK sends it: the function gives the claim up and answers 503.
    world.fault_on_write(1, 3, Fault::DropAfter);
    assert_eq!(charged(charge(policy(), world.stack.url(), None, 1200).await, 1200).await, (2, false));
    assert_eq!((world.charges(), world.record().await.status), (1, Status::Completed));
    world.stop().await;
}

#[tokio::test]
async fn a_caller_whose_first_attempt_took_too_long_gets_its_result_and_no_409() {
    let world = World::start().await;
    let gate = world.hold(Status::Completed, 1);
    let policy = policy().attempt_timeout(Duration::from_millis(500));
    let release = async {
        gate.reached().await;
        // The second attempt has tried to claim the key, and was turned away.
        world.store_requests();
        world.asked(|request| request.operation == "PutItem" && request.status == Some(400)).await;
        gate.open();
    };
    let (answer, ()) = join(charge(policy, world.stack.url(), None, 1200), release).await;
    let (attempts, replayed) = charged(answer, 1200).await;
    assert!(attempts >= 3 && replayed, "{attempts}");
    assert_eq!(world.charges(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_lost_attempt_is_unresolved_and_is_gone_on_with_under_its_key() {
    for policy_of_function in ["rerun", "reject"] {
        let world = World::with_policy(policy_of_function).await;
        // The provider charged, and its answer was lost; so the function's attempt is.
        world.provider(Behaviour { fail_after_charging: 1, ..Behaviour::default() });
        let lost = charge(policy().attempts(2), world.stack.url(), None, 1200).await;
        let key = failure(lost, |error| match error {
            ClientError::Unresolved(unresolved) => unresolved.key().clone(),
            other => panic!("{other:?}"),
        });
        world.end_the_lease().await;
        let later = charge(policy(), world.stack.url(), Some(&key), 1200).await;
        match policy_of_function {
            "rerun" => assert_eq!(charged(later, 1200).await, (1, false)),
            _ => failure(later, |error| assert!(matches!(error, ClientError::OutcomeUnknown { .. }), "{error:?}")),
        }
        assert_eq!(world.charges(), 1, "{policy_of_function}");
        world.stop().await;
    }
}

#[tokio::test]
async fn a_key_that_is_used_for_another_charge_is_a_mistake_that_is_told() {
    let world = World::start().await;
    let key = IdempotencyKey::new("order-42").unwrap();
    charged(charge(policy(), world.stack.url(), Some(&key), 1200).await, 1200).await;
    let other = charge(policy(), world.stack.url(), Some(&key), 1300).await;
    failure(other, |error| assert!(matches!(error, ClientError::Mismatch { .. }), "{error:?}"));
    assert_eq!(world.charges(), 1);
    world.stop().await;
}
