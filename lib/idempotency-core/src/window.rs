//! How long a key means something.

use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

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
}

impl Window {
    /// The longest run that Lambda allows (AWS Lambda Developer Guide, "Lambda quotas").
    pub const LAMBDA_LONGEST_RUN: Duration = Duration::from_secs(15 * 60);

    /// The longest storage TTL.
    pub const MAX_STORAGE_TTL: Duration = Duration::from_secs(366 * 24 * 3600);

    /// For HTTP: callers may retry for 24 hours, keys are remembered for 48.
    pub const fn http() -> Self {
        Self {
            request_ttl: Duration::from_secs(24 * HOUR.as_secs()),
            storage_ttl: Duration::from_secs(48 * HOUR.as_secs()),
            longest_run: Self::LAMBDA_LONGEST_RUN,
        }
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

const _: () = assert!(
    Window::custom(Window::http().request_ttl, Window::http().storage_ttl, Window::http().longest_run).is_ok()
        && Window::LAMBDA_LONGEST_RUN.as_secs() == 15 * MINUTE.as_secs()
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_checked_at_its_boundary() {
        let custom = |request, storage, run| {
            Window::custom(Duration::from_secs(request), Duration::from_secs(storage), Duration::from_secs(run))
        };
        assert!(custom(30, 31, 30).is_ok());
        assert_eq!(custom(30, 30, 30), Err(WindowError::StorageNotLongerThanRequest));
        assert_eq!(custom(29, 31, 30), Err(WindowError::RequestShorterThanRun));
        assert_eq!(custom(30, 31, 0), Err(WindowError::NoRun));
        assert_eq!(custom(0, 1, 1), Err(WindowError::RequestShorterThanRun));
        assert_eq!(custom(30, u64::MAX, 30), Err(WindowError::StorageTooLong));
    }
}
