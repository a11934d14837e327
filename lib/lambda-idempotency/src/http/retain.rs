//! Which returned responses are results.

use http::StatusCode;

/// Which returned responses are stored and replayed, by the class of their status (RFC 9110 section 15).
///
/// All of them, unless narrowed. A response of another class is delivered and not stored, and its key is released: the next
/// request with it runs the handler again. So leave a class out only if the handler's effect has not happened when it returns
/// one; a 500 after a charge that is not retained is a second charge.
///
/// ```
/// use lambda_idempotency::http::Retain;
///
/// let retain = Retain::classes([2, 4]);
/// assert!(retain.keeps(http::StatusCode::CREATED) && retain.keeps(http::StatusCode::CONFLICT));
/// assert!(!retain.keeps(http::StatusCode::SERVICE_UNAVAILABLE));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retain([bool; 5]);

impl Retain {
    /// Every response.
    pub const ALL: Self = Self([true; 5]);

    /// Responses of these classes: 2 for 2xx, 4 for 4xx. In a `const` a mistake is a compile error.
    ///
    /// # Panics
    ///
    /// If a class is not from 1 to 5, or there is none: then nothing would be remembered, and every duplicate would run.
    #[expect(clippy::indexing_slicing, reason = "checked in the line before")]
    pub const fn classes<const N: usize>(classes: [u8; N]) -> Self {
        assert!(N > 0, "a handler whose responses are never retained is run by every duplicate");
        let mut kept = [false; 5];
        let mut i = 0;
        while i < N {
            assert!(matches!(classes[i], 1..=5), "a status class is a digit from 1 to 5");
            kept[classes[i] as usize - 1] = true;
            i += 1;
        }
        Self(kept)
    }

    /// Whether a response of this status is stored.
    pub fn keeps(&self, status: StatusCode) -> bool {
        let class = usize::from(status.as_u16() / 100);
        self.0.get(class.wrapping_sub(1)).is_none_or(|kept| *kept)
    }
}

impl Default for Retain {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_outside_the_classes_is_kept() {
        // `StatusCode` allows up to 999; not knowing what it means, the safe thing is to remember it.
        assert!(Retain::classes([2]).keeps(StatusCode::from_u16(999).unwrap()));
        assert!(!Retain::classes([2]).keeps(StatusCode::FOUND));
        assert!(Retain::default().keeps(StatusCode::INTERNAL_SERVER_ERROR));
    }
}
