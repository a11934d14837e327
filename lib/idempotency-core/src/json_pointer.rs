//! A place in a JSON document.

use std::{borrow::Cow, fmt};

/// A place in a JSON document below its root (RFC 6901), such as `/sent_at` or `/trace/id`.
///
/// Each step is a member's name, in which `~1` stands for `/` and `~0` for `~`; in an array a step of decimal digits without a
/// leading zero counts elements from 0.
///
/// ```
/// use idempotency_core::{JsonPointer, JsonPointerError};
///
/// const SENT_AT: JsonPointer = JsonPointer::declare("/sent_at");
/// assert_eq!(JsonPointer::new("/sent_at"), Ok(SENT_AT));
/// assert_eq!(JsonPointer::new("sent_at"), Err(JsonPointerError::NoLeadingSlash));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JsonPointer(Cow<'static, str>);

/// Why a text is no place below a document's root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonPointerError {
    /// The empty pointer is the whole document.
    #[error("the empty JSON pointer means the whole document; name a member, such as `/sent_at`")]
    Root,
    /// A pointer begins with a slash.
    #[error("a JSON pointer begins with `/`, such as `/sent_at`")]
    NoLeadingSlash,
    /// `~` stands before something else than `0` and `1`.
    #[error("in a JSON pointer `~` is written `~0` and a `/` in a name `~1`")]
    Escape,
}

impl JsonPointer {
    /// Checks a text and takes it as a pointer.
    ///
    /// # Errors
    ///
    /// [`JsonPointerError`] says what the text breaks.
    pub fn new(pointer: impl Into<String>) -> Result<Self, JsonPointerError> {
        let pointer = pointer.into();
        check(&pointer).map(|()| Self(Cow::Owned(pointer)))
    }

    /// A pointer that stands in the code. In a `const` a mistake is a compile error.
    ///
    /// ```compile_fail
    /// # use idempotency_core::JsonPointer;
    /// const SENT_AT: JsonPointer = JsonPointer::declare("sent_at");
    /// ```
    ///
    /// # Panics
    ///
    /// Where [`new`](Self::new) gives an error.
    #[expect(clippy::panic, reason = "a mistake in the code, found when it is compiled")]
    pub const fn declare(pointer: &'static str) -> Self {
        match check(pointer) {
            Ok(()) => Self(Cow::Borrowed(pointer)),
            Err(JsonPointerError::Root) => {
                panic!("the empty JSON pointer means the whole document; name a member, such as `/sent_at`")
            }
            Err(JsonPointerError::NoLeadingSlash) => panic!("a JSON pointer begins with `/`, such as `/sent_at`"),
            Err(JsonPointerError::Escape) => panic!("in a JSON pointer `~` is written `~0` and a `/` in a name `~1`"),
        }
    }

    /// The pointer's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The steps from the root, unescaped: `~1` first, so that `~01` is `~1` (RFC 6901 section 4).
    pub(crate) fn steps(&self) -> Vec<String> {
        self.0.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
    }
}

impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const fn check(pointer: &str) -> Result<(), JsonPointerError> {
    let mut rest = match pointer.as_bytes() {
        [] => return Err(JsonPointerError::Root),
        [b'/', rest @ ..] => rest,
        _ => return Err(JsonPointerError::NoLeadingSlash),
    };
    while let [byte, others @ ..] = rest {
        rest = match (byte, others) {
            (b'~', [b'0' | b'1', others @ ..]) => others,
            (b'~', _) => return Err(JsonPointerError::Escape),
            _ => others,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_and_what_is_no_pointer_are_refused() {
        assert_eq!(JsonPointer::new(""), Err(JsonPointerError::Root));
        for text in ["sent_at", "$.sent_at", "#/sent_at", " /sent_at"] {
            assert_eq!(JsonPointer::new(text), Err(JsonPointerError::NoLeadingSlash), "{text}");
        }
        for text in ["/a~", "/a~2", "/~~0", "/a~/b"] {
            assert_eq!(JsonPointer::new(text), Err(JsonPointerError::Escape), "{text}");
        }
    }

    #[test]
    fn the_examples_of_rfc_6901() {
        // RFC 6901 section 5.
        for (pointer, steps) in [
            ("/foo", &["foo"][..]),
            ("/foo/0", &["foo", "0"]),
            ("/", &[""]),
            ("/a~1b", &["a/b"]),
            ("/c%d", &["c%d"]),
            ("/e^f", &["e^f"]),
            ("/g|h", &["g|h"]),
            ("/i\\j", &["i\\j"]),
            ("/k\"l", &["k\"l"]),
            ("/ ", &[" "]),
            ("/m~0n", &["m~n"]),
            // Section 4: not `/`.
            ("/~01", &["~1"]),
        ] {
            assert_eq!(JsonPointer::new(pointer).unwrap().steps(), steps, "{pointer}");
        }
    }

    #[test]
    fn a_declared_pointer_says_what_is_wrong_in_the_words_of_the_error() {
        for text in ["", "a", "/~"] {
            let error = JsonPointer::new(text).unwrap_err();
            let panic = std::panic::catch_unwind(|| JsonPointer::declare(text)).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>().map(|message| (*message).to_owned()), Some(error.to_string()));
        }
    }
}
