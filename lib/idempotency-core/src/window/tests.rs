//! Windows that cannot exist, and what the presets cover.

use super::*;

fn custom(request: u64, storage: u64, run: u64) -> Result<Window, WindowError> {
    Window::custom(Duration::from_secs(request), Duration::from_secs(storage), Duration::from_secs(run))
}

#[test]
fn each_rule_is_checked_at_its_boundary() {
    assert!(custom(30, 31, 30).is_ok());
    assert_eq!(custom(30, 30, 30), Err(WindowError::StorageNotLongerThanRequest));
    assert_eq!(custom(29, 31, 30), Err(WindowError::RequestShorterThanRun));
    assert_eq!(custom(30, 31, 0), Err(WindowError::NoRun));
    assert_eq!(custom(0, 1, 1), Err(WindowError::RequestShorterThanRun));
    assert_eq!(custom(30, u64::MAX, 30), Err(WindowError::StorageTooLong));
    let (year, nano) = (Window::MAX_STORAGE_TTL, Duration::from_nanos(1));
    assert!(Window::custom(year - nano, year, nano).is_ok());
    assert_eq!(Window::custom(year, year + nano, nano), Err(WindowError::StorageTooLong));
    assert_eq!(Window::custom(year, year, year), Err(WindowError::StorageNotLongerThanRequest));
}

#[test]
fn extreme_durations_are_refused_and_never_overflow() {
    let all = [Duration::ZERO, Duration::from_nanos(1), DAY, Duration::from_secs(u64::MAX), Duration::MAX];
    for request in all {
        for storage in all {
            for run in all {
                if let Ok(window) = Window::custom(request, storage, run) {
                    assert!(storage > request && request >= run && run > Duration::ZERO, "{window:?}");
                    assert!(storage <= Window::MAX_STORAGE_TTL, "{window:?}");
                }
            }
        }
        assert_eq!(Window::http().with_longest_run(request).is_ok(), request > Duration::ZERO && request <= DAY);
    }
}

#[test]
fn a_queues_window_outlives_every_delivery_of_a_message() {
    let minute = Duration::from_secs(60);
    for retention in [minute, 4 * DAY, 14 * DAY] {
        let window = Window::sqs(retention).unwrap();
        let in_the_dead_letter_queue = 14 * DAY;
        let last_delivery = retention + in_the_dead_letter_queue + retention;
        assert!(window.request_ttl() >= last_delivery && window.storage_ttl() > last_delivery, "{window:?}");
        assert_eq!(Window::declare_sqs(retention), window);
    }
}

#[test]
fn a_retention_that_no_queue_has_is_refused() {
    let nano = Duration::from_nanos(1);
    for retention in [Duration::ZERO, Duration::from_secs(60) - nano, 14 * DAY + nano, Duration::MAX] {
        assert_eq!(Window::sqs(retention), Err(WindowError::Retention), "{retention:?}");
    }
}

#[test]
fn a_declared_window_says_what_is_wrong_in_the_words_of_the_error() {
    let year = Window::MAX_STORAGE_TTL;
    for (request, storage, run) in
        [(DAY, DAY, DAY), (HOUR, DAY, DAY), (DAY, 2 * DAY, Duration::ZERO), (year, 2 * year, DAY)]
    {
        let error = Window::custom(request, storage, run).unwrap_err();
        let panic = std::panic::catch_unwind(|| Window::declare(request, storage, run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>().map(|message| (*message).to_owned()), Some(error.to_string()));
    }
    let panic = std::panic::catch_unwind(|| Window::declare_sqs(Duration::ZERO)).unwrap_err();
    assert_eq!(
        panic.downcast_ref::<&str>().map(|message| (*message).to_owned()),
        Some(WindowError::Retention.to_string())
    );
}
