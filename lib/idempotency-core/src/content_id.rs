//! Ids of data, so that a replayed write overwrites instead of appending.

use std::fmt;

use crate::{KeyPart, KeyPartError, hash::PartsHasher, key_part::NamedParts};

/// The id of a piece of data, computed from what it is about: SHA-256 over named parts.
///
/// Write data under it with a put or an upsert, and a handler that runs twice leaves one copy: a chunk of a document in
/// a search index, a row, an object. Its text is 64 lower-case hexadecimal digits, which file systems, collations and stores
/// that fold case keep apart; [`as_bytes`](Self::as_bytes) is for stores that want less.
///
/// ```
/// use idempotency_core::content_id;
///
/// # fn main() -> Result<(), idempotency_core::KeyPartError> {
/// let (doc_id, chunk_no) = ("doc-7", 0);
/// let id = content_id!(doc_id, chunk_no, model_version = "2026-10")?;
/// assert_eq!(id, content_id!(doc_id, chunk_no, model_version = "2026-10")?);
/// assert_ne!(id, content_id!(doc_id, chunk_no, model_version = "2026-11")?);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId([u8; 32]);

/// Collects the parts of a content id; [`content_id!`](crate::content_id) is a short form of it.
#[derive(Clone, Debug)]
#[must_use = "a builder is no id until it is finished"]
pub struct ContentIdBuilder(NamedParts);

impl ContentId {
    /// Starts an id. Data of two kinds in one place need a part that tells the kinds apart.
    ///
    /// The same parts (name and value each, in any order) give the same id, on every machine and in every release.
    /// [`KeyPart`] says what may be a part.
    pub const fn builder() -> ContentIdBuilder {
        ContentIdBuilder(NamedParts::new())
    }

    /// The hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl ContentIdBuilder {
    /// Adds a part. What is wrong with it is told by [`finish`](Self::finish).
    pub fn part(self, name: &str, part: &(impl KeyPart + ?Sized)) -> Self {
        Self(self.0.with(name, part))
    }

    /// The id of all parts.
    ///
    /// # Errors
    ///
    /// [`KeyPartError`], about the first part that has no value or a name that was there before, or because there are no
    /// parts.
    pub fn finish(self) -> Result<ContentId, KeyPartError> {
        self.0.hash(PartsHasher::new("idempotency-content-id-v1")).map(ContentId)
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentId({self})")
    }
}

/// The id of a piece of data: `content_id!(part, name = expression, …)`, a `Result<ContentId, KeyPartError>`.
///
/// A part is a variable, which gives it its name, or a name and an expression. See [`ContentId`](crate::ContentId).
#[macro_export]
macro_rules! content_id {
    ($($name:tt $(= $value:expr)?),+ $(,)?) => {
        $crate::__with_parts!($crate::ContentId::builder(); $($name $(= $value)?),+)
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write at least one part, each a variable or a name and an expression: `content_id!(doc_id, chunk_no = chunk.index)`"
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replayed_write_has_the_same_id_and_other_data_another() {
        let id = |doc: &str, chunk: u32, model: &str| content_id!(doc, chunk, model).unwrap();
        assert_eq!(id("d", 0, "m1"), id("d", 0, "m1"));
        let ids = [id("d", 0, "m1"), id("d", 1, "m1"), id("d", 0, "m2"), id("d1", 0, "m"), id("e", 0, "m1")];
        for (i, a) in ids.iter().enumerate() {
            assert!(ids.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn a_part_without_a_value_makes_no_id() {
        let model: Option<&str> = None;
        assert_eq!(content_id!(doc = "d", model), Err(KeyPartError::Missing { part: "model".into() }));
        assert_eq!(content_id!(doc = "\t"), Err(KeyPartError::Empty { part: "doc".into() }));
        assert_eq!(ContentId::builder().finish(), Err(KeyPartError::NoParts));
    }

    #[test]
    fn the_stored_form_never_changes() {
        // Data that is already written must be found again: this value is a promise.
        let id = content_id!(doc_id = "doc-7", chunk_no = 0, model_version = "2026-10").unwrap();
        assert_eq!(id.to_string(), "aef11dcf502b65af86733b9fa8bd43631bfa51f981f0cad36852084c81e62995");
        assert_eq!(id.to_string().len(), 64);
    }
}
