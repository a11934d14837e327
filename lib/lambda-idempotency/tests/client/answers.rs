//! What each answer leads to.

use std::time::Duration;

use lambda_idempotency::{
    client::{ClientError, OtherConflict, RetryPolicy, Stopped},
    http::ProblemType,
};

use crate::support::{Callee, Reply, SECOND, answer, failure, post, unresolved};

#[tokio::test(start_paused = true)]
async fn a_definite_answer_is_handed_on_after_one_request() {
    for status in [200, 201, 202, 204, 303, 400, 402, 404, 422, 501] {
        let callee = Callee::new([Reply::status(status).body("so be it").header("x-trace", "t-1")]);
        let response = post(&callee.client(RetryPolicy::new())).await.unwrap();
        assert_eq!(response.headers()["x-trace"], "t-1");
        assert_eq!(answer(Ok(response)).await, (status, "so be it".to_owned(), 1));
        assert_eq!(callee.count(), 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transient_answer_is_none() {
    for status in [408, 425, 429, 500, 502, 503, 504, 599] {
        let callee = Callee::new([Reply::status(status), Reply::status(201).body("charged")]);
        let answered = answer(post(&callee.client(RetryPolicy::new())).await).await;
        assert_eq!(answered, (201, "charged".to_owned(), 2), "{status}");
        callee.one_key();
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_in_flight_is_repeated_until_it_is_answered() {
    let accepted = Reply::status(202).body(r#"{"status":"in_flight"}"#).header("retry-after", "1");
    for in_flight in [Reply::conflict(), accepted] {
        let stored = Reply::status(201).body("charged").replayed();
        let callee = Callee::new([in_flight.clone(), in_flight, stored]);
        let answered = answer(post(&callee.client(RetryPolicy::new())).await).await;
        assert_eq!(answered, (201, "charged".to_owned(), 3));
        callee.one_key();
    }
}

#[tokio::test(start_paused = true)]
async fn a_409_that_never_ends_is_an_error_and_no_answer() {
    let foreign = Reply::status(409).body(r#"{"type":"https://example.com/in-flight"}"#);
    for conflict in [Reply::conflict(), foreign, Reply::status(409)] {
        let callee = Callee::new([conflict]);
        let result = post(&callee.client(RetryPolicy::new().attempts(4))).await;
        assert_eq!(unresolved(&callee, result), (Stopped::Attempts, Some(409.try_into().unwrap())));
        assert_eq!(callee.count(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_callees_own_409_is_the_answer_once_it_is_a_replay() {
    let own = Reply::status(409).body("the name is taken");
    let callee = Callee::new([own.clone(), own.replayed()]);
    let answered = answer(post(&callee.client(RetryPolicy::new())).await).await;
    assert_eq!(answered, (409, "the name is taken".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn a_callees_own_409_is_the_answer_at_once_by_choice_and_the_toolkits_never() {
    let policy = || RetryPolicy::new().attempts(2).other_conflict(OtherConflict::Answer);
    let callee = Callee::new([Reply::status(409).body("the name is taken")]);
    assert_eq!(answer(post(&callee.client(policy())).await).await.2, 1);
    let callee = Callee::new([Reply::conflict()]);
    assert_eq!(unresolved(&callee, post(&callee.client(policy())).await).0, Stopped::Attempts);
}

#[tokio::test(start_paused = true)]
async fn a_mismatch_is_a_mistake_and_never_repeated() {
    let callee = Callee::new([Reply::problem(ProblemType::Mismatch, None), Reply::status(201)]);
    failure(post(&callee.client(RetryPolicy::new())).await, |error| {
        assert!(matches!(error, ClientError::Mismatch { .. }), "{error:?}");
        assert_eq!(error.key().unwrap().as_str(), callee.one_key());
    });
    assert_eq!(callee.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_stays_until_an_operator_acts_is_an_error_and_never_repeated() {
    for kind in [ProblemType::OutcomeUnknown, ProblemType::ResultUnreadable, ProblemType::CompensationStuck] {
        let callee = Callee::new([Reply::problem(kind, None), Reply::status(201)]);
        failure(post(&callee.client(RetryPolicy::new())).await, |error| {
            let right = match kind {
                ProblemType::OutcomeUnknown => matches!(error, ClientError::OutcomeUnknown { .. }),
                ProblemType::CompensationStuck => matches!(error, ClientError::CompensationStuck { .. }),
                _ => matches!(error, ClientError::ResultUnreadable { .. }),
            };
            assert!(right, "{error:?}");
            assert_eq!(error.key().unwrap().as_str(), callee.one_key());
        });
        assert_eq!(callee.count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_committed_or_not_undone_yet_is_gone_on_with() {
    for kind in [ProblemType::NotCommitted, ProblemType::Undoing] {
        let callee = Callee::new([Reply::problem(kind, Some(SECOND)), Reply::status(402).body("refused").replayed()]);
        let answered = answer(post(&callee.client(RetryPolicy::new())).await).await;
        assert_eq!(answered, (402, "refused".to_owned(), 2));
        callee.one_key();
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_not_known_yet_is_asked_about_again() {
    let not_yet = Reply::problem(ProblemType::OutcomeUnknown, Some(SECOND));
    let callee = Callee::new([not_yet, Reply::status(201).replayed()]);
    assert_eq!(answer(post(&callee.client(RetryPolicy::new())).await).await.2, 2);
    callee.one_key();
}

#[tokio::test(start_paused = true)]
async fn a_stored_answer_is_definite_even_if_its_status_is_transient() {
    let callee = Callee::new([Reply::status(503), Reply::status(503).body("sold out").replayed()]);
    let answered = answer(post(&callee.client(RetryPolicy::new())).await).await;
    assert_eq!(answered, (503, "sold out".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn silence_is_no_answer() {
    let callee = Callee::new([Reply::Silence, Reply::Silence, Reply::status(201)]);
    let policy = RetryPolicy::new().attempt_timeout(Duration::from_secs(3));
    assert_eq!(answer(post(&callee.client(policy)).await).await.2, 3);
    let seen = callee.seen();
    assert!(seen[1].at - seen[0].at >= Duration::from_secs(3));
    callee.one_key();
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_refuses_a_request_is_not_asked_again() {
    let callee = Callee::new([Reply::Refusal]);
    failure(post(&callee.client(RetryPolicy::new())).await, |error| {
        assert!(matches!(error, ClientError::Failed { .. }), "{error:?}");
        assert_eq!(error.key().unwrap().as_str(), callee.one_key());
    });
    assert_eq!(callee.count(), 1);
}
