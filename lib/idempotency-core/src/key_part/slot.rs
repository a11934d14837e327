//! Parts, encoded so that no two lists of parts look alike.
//!
//! A scalar is its kind (`s` text, `i` integer in decimal digits, `b` the words `true` and `false`), its length in bytes as
//! decimal digits, a colon and its bytes: `s6:INV-42`, `i2:-7`. A list is `l`, the count of its elements, a colon and the
//! elements: `l2:i1:7b4:true`. Each form says where it ends. Names and encoded values are then hashed by name in the order of
//! the names' bytes, each preceded by its length (`PartsHasher`).

use std::{collections::BTreeMap, fmt};

use super::{KeyPart, KeyPartError};
use crate::hash::PartsHasher;

/// The place of one part in a key, filled by [`KeyPart::encode`]. Only a part can fill it, and only once.
#[must_use = "an unfilled slot makes no key"]
pub struct PartSlot<'a> {
    place: Place<'a>,
    bytes: &'a mut Vec<u8>,
}

/// The proof that a slot was filled.
#[derive(Debug)]
pub struct EncodedPart(());

impl PartSlot<'_> {
    /// The error that says that this part has no value, for a type of your own that knows when it has none.
    pub fn missing(self) -> KeyPartError {
        KeyPartError::Missing { part: self.place.to_string() }
    }

    /// Text that may be anything but blank.
    pub(super) fn text(self, text: &str) -> Result<EncodedPart, KeyPartError> {
        if text.trim().is_empty() {
            return Err(KeyPartError::Empty { part: self.place.to_string() });
        }
        Ok(self.scalar(b's', text.as_bytes()))
    }

    /// An integer in decimal digits, which do not depend on its type.
    pub(super) fn integer(self, digits: &str) -> EncodedPart {
        self.scalar(b'i', digits.as_bytes())
    }

    pub(super) fn boolean(self, value: bool) -> EncodedPart {
        self.scalar(b'b', if value { b"true" } else { b"false" })
    }

    /// A list: how many elements, then each of them.
    pub(super) fn list<'e>(
        self,
        elements: impl ExactSizeIterator<Item = &'e (dyn KeyPart + 'e)>,
    ) -> Result<EncodedPart, KeyPartError> {
        if elements.len() == 0 {
            return Err(KeyPartError::Empty { part: self.place.to_string() });
        }
        self.bytes.extend_from_slice(format!("l{}:", elements.len()).as_bytes());
        for (index, element) in elements.enumerate() {
            let place = Place::Element { of: &self.place, index };
            element.encode(PartSlot { place, bytes: &mut *self.bytes })?;
        }
        Ok(EncodedPart(()))
    }

    /// Kind, length and bytes, so that values of two kinds differ and neighbours do not run into each other.
    fn scalar(self, kind: u8, value: &[u8]) -> EncodedPart {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(format!("{}:", value.len()).as_bytes());
        self.bytes.extend_from_slice(value);
        EncodedPart(())
    }
}

impl fmt::Debug for PartSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartSlot({})", self.place)
    }
}

/// Where a part stands, for messages: `items[2]`.
enum Place<'a> {
    Named(&'a str),
    Element { of: &'a Place<'a>, index: usize },
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Element { of, index } => write!(f, "{of}[{index}]"),
        }
    }
}

/// Named parts on their way into a hash, or the first thing that is wrong with them.
#[derive(Clone, Debug)]
pub(crate) struct NamedParts(Result<BTreeMap<String, Vec<u8>>, KeyPartError>);

impl NamedParts {
    pub(crate) const fn new() -> Self {
        Self(Ok(BTreeMap::new()))
    }

    pub(crate) fn with(self, name: &str, part: &(impl KeyPart + ?Sized)) -> Self {
        Self(self.0.and_then(|mut parts| {
            let mut bytes = Vec::new();
            part.encode(PartSlot { place: Place::Named(name), bytes: &mut bytes })?;
            match parts.insert(name.to_owned(), bytes) {
                None => Ok(parts),
                Some(_) => Err(KeyPartError::Twice { part: name.to_owned() }),
            }
        }))
    }

    /// The hash over all parts in the order of their names, so that the order in which the code lists them does not count.
    pub(crate) fn hash(self, start: PartsHasher) -> Result<[u8; 32], KeyPartError> {
        let parts = self.0?;
        if parts.is_empty() {
            return Err(KeyPartError::NoParts);
        }
        let hasher = parts.iter().fold(start, |hasher, (name, part)| hasher.part(name.as_bytes()).part(part));
        Ok(hasher.finish())
    }
}
