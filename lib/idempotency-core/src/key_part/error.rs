//! Why there is no key.

/// Why parts make no key. A key is never made of the parts that happen to be there: everyone with the same part missing would
/// share it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyPartError {
    /// A part has no value.
    #[error("the key part `{part}` is missing; a key needs all of its parts")]
    Missing {
        /// The part's name.
        part: String,
    },
    /// A part is empty or all-blank text, or an empty list.
    #[error("the key part `{part}` is empty; a key needs all of its parts")]
    Empty {
        /// The part's name.
        part: String,
    },
    /// Two parts have one name, so their order would decide which is which.
    #[error("the key part `{part}` stands twice; give each part a name of its own")]
    Twice {
        /// The part's name.
        part: String,
    },
    /// There are no parts: every request would share one key.
    #[error("a key without parts would be shared by all requests; add what identifies the request")]
    NoParts,
}
