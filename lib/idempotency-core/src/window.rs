//! How long a key means something.

use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The shortest and the longest retention of a queue (Amazon SQS API Reference, "SetQueueAttributes",
/// `MessageRetentionPeriod`).
const SQS_RETENTION: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(14 * DAY.as_secs()));

/// How long callers may retry, and how long their keys are remembered.
///
/// The *request TTL* is the promise to callers: a retry within it gets the first answer. The *storage TTL* is how long
/// the record is kept; it is longer, so that a retry sent at the last moment still finds its record. After the storage
/// TTL a key is new.
///
/// ```
/// use std::time::Duration;
/// use idempotency_core::{Window, WindowError};
///
/// let day = Duration::from_secs(86_400);
/// assert!(Window::custom(day, 2 * day, Duration::from_secs(30)).is_ok());
/// assert_eq!(
///     Window::custom(day, day, Duration::from_secs(30)),
///     Err(WindowError::StorageNotLongerThanRequest),
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    request_ttl: Duration,
    storage_ttl: Duration,
    longest_run: Duration,
}

/// Why two lifetimes are no window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// A record would be forgotten while its callers may still retry.
    #[error("the storage TTL must be longer than the request TTL")]
    StorageNotLongerThanRequest,
    /// A second run could start while the first is still allowed to go on.
    #[error("the request TTL must be at least as long as the longest run")]
    RequestShorterThanRun,
    /// The longest run is zero.
    #[error("the longest run must be more than zero")]
    NoRun,
    /// The storage TTL is beyond [`Window::MAX_STORAGE_TTL`]; such rows would in effect never expire.
    #[error("the storage TTL must be at most 366 days")]
    StorageTooLong,
    /// No SQS queue has this retention.
    #[error("the retention of an SQS queue must be from 60 seconds to 14 days")]
    Retention,
}

impl Window {
    /// The longest run that Lambda allows (AWS Lambda Developer Guide, "Lambda quotas").
    pub const LAMBDA_LONGEST_RUN: Duration = Duration::from_secs(15 * 60);

    /// The longest storage TTL.
    pub const MAX_STORAGE_TTL: Duration = Duration::from_secs(366 * 24 * 3600);

    /// For HTTP: callers may retry for 24 hours, keys are remembered for 48.
    pub const fn http() -> Self {
        Self::declare(DAY, Duration::from_secs(48 * HOUR.as_secs()), Self::LAMBDA_LONGEST_RUN)
    }

    /// For messages of an SQS queue with this retention.
    ///
    /// A message is delivered again for as long as it exists: while the source queue retains it, then in a
    /// dead-letter queue, which may retain it for 14 days, and after a redrive to the source queue for its whole retention once
    /// more. So keys may come back for twice the retention and 14 days, and are remembered for a day longer: 23 days for SQS's
    /// default retention of 4 days, 43 for the longest. Who redrives the same message a second time after that needs a
    /// window of their own.
    ///
    /// Facts: a FIFO queue's messages start anew in the dead-letter queue, a standard queue's keep their age (Amazon SQS
    /// Developer Guide, "Setting-up dead-letter queue retention in Amazon SQS"); "the redrive task resets the retention
    /// period", and gives each message a new id (same guide, "Learn how to configure a dead-letter queue redrive in Amazon
    /// SQS"), so only keys that travel in the message, or are derived from it, recognise a redriven one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use idempotency_core::{Window, WindowError};
    ///
    /// let day = Duration::from_secs(86_400);
    /// assert_eq!(Window::sqs(4 * day).unwrap().storage_ttl(), 23 * day);
    /// assert_eq!(Window::sqs(15 * day), Err(WindowError::Retention));
    /// ```
    ///
    /// # Errors
    ///
    /// [`WindowError::Retention`] unless the retention is one that a queue can have.
    pub const fn sqs(retention: Duration) -> Result<Self, WindowError> {
        let (shortest, longest) = SQS_RETENTION;
        if retention.as_nanos() < shortest.as_nanos() || retention.as_nanos() > longest.as_nanos() {
            return Err(WindowError::Retention);
        }
        // Within these bounds nothing overflows.
        let request_ttl = retention.saturating_mul(2).saturating_add(longest);
        Self::custom(request_ttl, request_ttl.saturating_add(DAY), Self::LAMBDA_LONGEST_RUN)
    }

    /// A window of one's own. `longest_run` is the longest time that one attempt may take, usually the function's
    /// timeout.
    ///
    /// # Errors
    ///
    /// Unless `storage_ttl > request_ttl >= longest_run > 0` and `storage_ttl` is at most a year.
    pub const fn custom(
        request_ttl: Duration,
        storage_ttl: Duration,
        longest_run: Duration,
    ) -> Result<Self, WindowError> {
        if longest_run.is_zero() {
            Err(WindowError::NoRun)
        } else if request_ttl.as_nanos() < longest_run.as_nanos() {
            Err(WindowError::RequestShorterThanRun)
        } else if storage_ttl.as_nanos() <= request_ttl.as_nanos() {
            Err(WindowError::StorageNotLongerThanRequest)
        } else if storage_ttl.as_nanos() > Self::MAX_STORAGE_TTL.as_nanos() {
            Err(WindowError::StorageTooLong)
        } else {
            Ok(Self { request_ttl, storage_ttl, longest_run })
        }
    }

    /// A window that stands in the code. In a `const` a mistake is a compile error.
    ///
    /// ```
    /// use std::time::Duration;
    /// use idempotency_core::Window;
    ///
    /// const HOUR: Duration = Duration::from_secs(3600);
    /// const WINDOW: Window = Window::declare(HOUR, Duration::from_secs(2 * 3600), Duration::from_secs(30));
    /// ```
    ///
    /// ```compile_fail
    /// # use std::time::Duration;
    /// # use idempotency_core::Window;
    /// # const HOUR: Duration = Duration::from_secs(3600);
    /// const WINDOW: Window = Window::declare(HOUR, HOUR, Duration::from_secs(30));
    /// ```
    ///
    /// # Panics
    ///
    /// Where [`custom`](Self::custom) gives an error.
    pub const fn declare(request_ttl: Duration, storage_ttl: Duration, longest_run: Duration) -> Self {
        Self::declared(Self::custom(request_ttl, storage_ttl, longest_run))
    }

    /// [`sqs`](Self::sqs) for a retention that stands in the code. In a `const` a mistake is a compile error.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use idempotency_core::Window;
    /// const WINDOW: Window = Window::declare_sqs(Duration::from_secs(4 * 86_400));
    /// ```
    ///
    /// ```compile_fail
    /// # use std::time::Duration;
    /// # use idempotency_core::Window;
    /// const WINDOW: Window = Window::declare_sqs(Duration::from_secs(15 * 86_400));
    /// ```
    ///
    /// # Panics
    ///
    /// Where [`sqs`](Self::sqs) gives an error.
    pub const fn declare_sqs(retention: Duration) -> Self {
        Self::declared(Self::sqs(retention))
    }

    /// The same window for a function whose attempts take another time at most, usually its timeout.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use idempotency_core::{Window, WindowError};
    /// assert!(Window::http().with_longest_run(Duration::from_secs(30)).is_ok());
    /// assert_eq!(Window::http().with_longest_run(Duration::ZERO), Err(WindowError::NoRun));
    /// ```
    ///
    /// # Errors
    ///
    /// Unless `request_ttl >= longest_run > 0`.
    pub const fn with_longest_run(self, longest_run: Duration) -> Result<Self, WindowError> {
        Self::custom(self.request_ttl, self.storage_ttl, longest_run)
    }

    /// The messages repeat those of [`WindowError`], which cannot be formatted in a `const`.
    #[expect(clippy::panic, reason = "a mistake in the code, found when it is compiled")]
    const fn declared(window: Result<Self, WindowError>) -> Self {
        match window {
            Ok(window) => window,
            Err(WindowError::StorageNotLongerThanRequest) => {
                panic!("the storage TTL must be longer than the request TTL")
            }
            Err(WindowError::RequestShorterThanRun) => {
                panic!("the request TTL must be at least as long as the longest run")
            }
            Err(WindowError::NoRun) => panic!("the longest run must be more than zero"),
            Err(WindowError::StorageTooLong) => panic!("the storage TTL must be at most 366 days"),
            Err(WindowError::Retention) => panic!("the retention of an SQS queue must be from 60 seconds to 14 days"),
        }
    }

    /// How long a caller may retry.
    pub const fn request_ttl(&self) -> Duration {
        self.request_ttl
    }

    /// How long a key is remembered, from its claim.
    pub const fn storage_ttl(&self) -> Duration {
        self.storage_ttl
    }

    /// The longest time that one attempt may take. It is the lease where no platform deadline is known.
    pub const fn longest_run(&self) -> Duration {
        self.longest_run
    }
}

/// The preset is a valid window, or nothing compiles.
const _: Window = Window::http();

#[cfg(test)]
mod tests;
