//! Which policies are refused when a layer is made.

use std::time::Duration;

use lambda_idempotency::{
    Window,
    client::{CircuitBreaker, Idempotent, RetryBudget, RetryPolicy, RetryPolicyError},
};

use crate::support::SECOND;

const HOUR: Duration = Duration::from_secs(3600);

fn error(policy: RetryPolicy) -> Option<RetryPolicyError> {
    Idempotent::new(policy).err()
}

#[test]
fn a_horizon_beyond_the_window_is_refused_to_the_millisecond() {
    let day = 24 * HOUR;
    let until = |horizon| error(RetryPolicy::new().attempt_timeout(30 * SECOND).horizon(horizon));
    assert_eq!(until(day - 30 * SECOND), None);
    let latest = day + Duration::from_millis(1);
    let beyond = RetryPolicyError::HorizonBeyondWindow { latest, request_ttl: day };
    assert_eq!(until(day - 30 * SECOND + Duration::from_millis(1)), Some(beyond));
    assert!(matches!(until(Duration::MAX), Some(RetryPolicyError::HorizonBeyondWindow { .. })));
}

#[test]
fn the_window_is_the_callees() {
    let window = Window::custom(30 * SECOND, 60 * SECOND, 10 * SECOND).unwrap();
    let refused = error(RetryPolicy::new().window(window)).unwrap();
    assert!(refused.to_string().contains("shorten the horizon"), "{refused}");
    assert_eq!(error(RetryPolicy::new().window(window).horizon(20 * SECOND)), None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let policy = RetryPolicy::new;
    let zero = Duration::ZERO;
    assert_eq!(error(policy()), None);
    assert_eq!(error(policy().horizon(zero)), Some(RetryPolicyError::NoHorizon));
    assert_eq!(error(policy().attempt_timeout(zero)), Some(RetryPolicyError::NoAttemptTimeout));
    assert_eq!(error(policy().attempts(0)), Some(RetryPolicyError::NoAttempts));
    assert_eq!(error(policy().waits(zero, SECOND)), Some(RetryPolicyError::NoWait));
    assert_eq!(error(policy().waits(2 * SECOND, SECOND)), Some(RetryPolicyError::FirstWaitLongerThanLongest));
    assert_eq!(error(policy().waits(SECOND, HOUR)), Some(RetryPolicyError::WaitBeyondHorizon));
    for ratio in [-0.1, 1000.1, f32::NAN, f32::INFINITY] {
        let policy = policy().retry_budget(RetryBudget::new(1, ratio));
        assert_eq!(error(policy), Some(RetryPolicyError::RetryBudget), "{ratio}");
    }
    assert_eq!(error(policy().retry_budget(RetryBudget::new(u32::MAX, 0.1))), Some(RetryPolicyError::RetryBudget));
    let breakers = [(0, 0.5, SECOND), (1, 0.0, SECOND), (1, 1.1, SECOND), (1, f32::NAN, SECOND), (1, 0.5, zero)];
    for (attempts, rate, open) in breakers.into_iter().chain([(1, 0.5, Duration::MAX)]) {
        let policy = policy().circuit_breaker(CircuitBreaker::new(attempts, rate, open));
        assert_eq!(error(policy), Some(RetryPolicyError::CircuitBreaker), "{attempts} {rate} {open:?}");
    }
    assert_eq!(error(policy().retry_budget(None).circuit_breaker(None)), None);
}
