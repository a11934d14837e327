//! SHA-256 over parts that cannot run into each other.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// Hashes a sequence of parts, each preceded by its length, so that `("a", "bc")` and `("ab", "c")` differ.
pub(crate) struct PartsHasher(Sha256);

impl PartsHasher {
    /// Starts a hash of its own kind; two kinds never give one value for the same parts.
    pub(crate) fn new(domain: &str) -> Self {
        Self(Sha256::new()).part(domain.as_bytes())
    }

    pub(crate) fn part(mut self, part: &[u8]) -> Self {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
        self
    }

    /// A part that may be missing; a missing one differs from an empty one.
    pub(crate) fn optional(self, part: Option<&str>) -> Self {
        match part {
            Some(part) => self.part(&[1]).part(part.as_bytes()),
            None => self.part(&[0]),
        }
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// A hash as it stands in keys: 43 characters of URL-safe base64.
pub(crate) fn base64url(hash: &[u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(hash)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// Few letters and short parts, so that sequences with the same text in other parts are common.
        #[test]
        fn only_equal_sequences_of_parts_share_a_hash(
            a in vec(proptest::option::of("[\u{0}\u{1}a]{0,2}"), 0..4),
            b in vec(proptest::option::of("[\u{0}\u{1}a]{0,2}"), 0..4),
        ) {
            let hash = |parts: &[Option<String>]| {
                parts.iter().fold(PartsHasher::new("t"), |hasher, part| hasher.optional(part.as_deref())).finish()
            };
            prop_assert_eq!(hash(&a) == hash(&b), a == b);
            let hash = |parts: &[Option<String>]| {
                let parts = parts.iter().flatten();
                parts.fold(PartsHasher::new("t"), |hasher, part| hasher.part(part.as_bytes())).finish()
            };
            prop_assert_eq!(hash(&a) == hash(&b), a.iter().flatten().eq(b.iter().flatten()));
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let hash = |parts: &[&str]| parts.iter().fold(PartsHasher::new("t"), |h, p| h.part(p.as_bytes())).finish();
        assert_ne!(hash(&["a", "bc"]), hash(&["ab", "c"]));
        assert_ne!(hash(&["a", ""]), hash(&["a"]));
        assert_ne!(PartsHasher::new("t").optional(None).finish(), PartsHasher::new("t").optional(Some("")).finish());
    }
}
