//! What all requests to a callee share: the retry budget and the circuit.

use std::time::Duration;

use lambda_idempotency::client::{CircuitBreaker, ClientError, Idempotent, RetryBudget, RetryPolicy, Stopped};

use crate::support::{Callee, Reply, answer, failure, post, unresolved};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Opens after more than 4 attempts, when all of the last 4 failed.
fn breaking() -> RetryPolicy {
    RetryPolicy::new().attempts(1).circuit_breaker(CircuitBreaker::new(4, 1.0, DAY))
}

#[tokio::test(start_paused = true)]
async fn a_callee_that_fails_is_left_alone_and_the_error_has_the_key() {
    for failing in [Reply::status(503), Reply::status(500), Reply::status(429), Reply::Silence] {
        let callee = Callee::new([failing]);
        let layer = Idempotent::new(breaking()).unwrap();
        for _ in 0..5 {
            // Clones share the circuit, and so do the clients that they are in.
            post(&callee.behind(&layer.clone())).await.unwrap_err();
        }
        assert_eq!(callee.count(), 5);
        failure(post(&callee.behind(&layer)).await, |error| {
            assert!(matches!(error, ClientError::CircuitOpen { .. }), "{error:?}");
            assert!(error.nothing_was_sent());
            let key = error.key().unwrap().as_str();
            assert!(callee.seen().iter().all(|seen| seen.key() != Some(key)));
        });
        let without_key = callee.behind(&layer).get("http://callee.test/").send().await;
        failure(without_key, |error| assert!(matches!(error, ClientError::CircuitOpen { key: None }), "{error:?}"));
        assert_eq!(callee.count(), 5, "nothing was sent");
    }
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_opens_between_two_attempts_leaves_the_request_unresolved() {
    let callee = Callee::new([Reply::status(503)]);
    let result = post(&callee.client(breaking().attempts(16))).await;
    assert_eq!(unresolved(&callee, result).0, Stopped::CircuitOpen);
    assert_eq!(callee.count(), 5);
}

#[tokio::test(start_paused = true)]
async fn answers_of_a_callee_that_is_well_do_not_open_the_circuit() {
    let replies = [
        Reply::conflict(),
        Reply::status(404),
        Reply::status(422),
        Reply::status(503).replayed(),
        Reply::problem(lambda_idempotency::http::ProblemType::OutcomeUnknown, None),
        Reply::Refusal,
    ];
    for reply in replies {
        let callee = Callee::new([reply]);
        let client = callee.client(breaking());
        for _ in 0..20 {
            let _ = post(&client).await;
        }
        assert_eq!(callee.count(), 20);
    }
}

#[tokio::test]
async fn an_open_circuit_closes_when_the_callee_is_well_again() {
    let callee = Callee::new([503, 503, 503, 503, 503, 201].map(Reply::status));
    // The breaker's clock is the machine's, so this waits for it.
    let client = callee.client(breaking().circuit_breaker(CircuitBreaker::new(4, 1.0, Duration::from_millis(20))));
    for _ in 0..5 {
        post(&client).await.unwrap_err();
    }
    while callee.count() < 8 {
        let _ = post(&client).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(answer(post(&client).await).await.0, 201);
}

#[tokio::test(start_paused = true)]
async fn repetitions_end_when_the_budget_of_all_requests_is_used_up() {
    let callee = Callee::new([Reply::status(503)]);
    // None for free, and one for every two requests.
    let policy = RetryPolicy::new().circuit_breaker(None).retry_budget(RetryBudget::new(0, 0.5));
    let layer = Idempotent::new(policy).unwrap();
    let mut stopped = Vec::new();
    for _ in 0..4 {
        failure(post(&callee.behind(&layer)).await, |error| match error {
            ClientError::Unresolved(unresolved) => stopped.push((unresolved.stopped(), unresolved.attempts())),
            other => panic!("{other:?}"),
        });
    }
    let budget = Stopped::RetryBudget;
    assert_eq!(stopped, [(budget, 1), (budget, 2), (budget, 1), (budget, 2)]);
}

#[tokio::test(start_paused = true)]
async fn asking_about_a_request_in_flight_costs_no_budget() {
    let callee = Callee::new([Reply::conflict(), Reply::conflict(), Reply::status(201)]);
    let policy = RetryPolicy::new().retry_budget(RetryBudget::new(0, 0.0));
    assert_eq!(answer(post(&callee.client(policy)).await).await.2, 3);
}
