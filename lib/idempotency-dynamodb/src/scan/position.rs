//! Where a scan goes on.

use std::{fmt, str::FromStr};

use crate::item::{Item, attribute, string};

/// A place in a segment of a scan. As text it can be kept and gone on with later, by another process too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScanPosition {
    segment: u32,
    segments: u32,
    /// Partition key and sort key of the last item that was read; `None` at the start.
    after: Option<(String, String)>,
}

/// The text is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no position of a scan; pass on unchanged what the scan gave, or begin at its start")]
pub struct PositionError {
    text: String,
}

impl ScanPosition {
    pub(super) const fn start(segment: u32, segments: u32) -> Self {
        Self { segment, segments, after: None }
    }

    /// Behind an item; `None` if it has no keys of this table.
    pub(super) fn after(segment: u32, segments: u32, key: &Item) -> Option<Self> {
        let text = |name| key.get(name)?.as_s().ok().cloned();
        Some(Self { segment, segments, after: Some((text(attribute::PK)?, text(attribute::SK)?)) })
    }

    pub(super) fn key(&self) -> Option<Item> {
        let (pk, sk) = self.after.as_ref()?;
        Some(Item::from([(attribute::PK.into(), string(pk)), (attribute::SK.into(), string(sk))]))
    }

    /// The segment, from 0.
    pub const fn segment(&self) -> u32 {
        self.segment
    }

    /// Of how many.
    pub const fn segments(&self) -> u32 {
        self.segments
    }
}

/// `2/8`, and behind an item `2/8 17 ` and the two keys, of which the first has 17 bytes.
impl fmt::Display for ScanPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.segment, self.segments)?;
        match &self.after {
            None => Ok(()),
            Some((pk, sk)) => write!(f, " {} {pk}{sk}", pk.len()),
        }
    }
}

impl FromStr for ScanPosition {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        parse(text).ok_or_else(|| PositionError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<ScanPosition> {
    let (cut, after) = match text.split_once(' ') {
        None => (text, None),
        Some((cut, after)) => (cut, Some(after)),
    };
    let (segment, segments) = cut.split_once('/')?;
    let (segment, segments) = (segment.parse().ok()?, segments.parse().ok()?);
    let after = match after {
        None => None,
        Some(after) => {
            let (length, keys) = after.split_once(' ')?;
            let (pk, sk) = keys.split_at_checked(length.parse().ok()?)?;
            // Neither key of an item is empty.
            Some((!pk.is_empty() && !sk.is_empty()).then(|| (pk.to_owned(), sk.to_owned()))?)
        }
    };
    (segment < segments).then_some(ScanPosition { segment, segments, after })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_survives_as_text(segment in 0..8_u32, pk in "\\PC{1,20}", sk in "\\PC{1,20}") {
            for after in [None, Some((pk.clone(), sk.clone()))] {
                let position = ScanPosition { segment, segments: 8, after };
                prop_assert_eq!(position.to_string().parse(), Ok(position));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = text.parse::<ScanPosition>();
        }
    }

    #[test]
    fn what_is_no_position_is_refused() {
        for text in ["", "8/8", "1", "a/b", "1/8 ", "1/8 3 ab", "1/8 2 ab", "1/8 0 ab", "1/8 x ab"] {
            assert!(text.parse::<ScanPosition>().is_err(), "{text}");
        }
    }
}
