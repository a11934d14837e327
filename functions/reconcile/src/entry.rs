//! What is written down of an item, to be compared with others.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What is written down of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// An effect, by its business key.
    #[serde(rename = "b")]
    Business {
        /// The table's place in the configuration.
        table: usize,
        key: Vec<String>,
        item: String,
    },
    /// An effect, by its record.
    #[serde(rename = "e")]
    Effect { table: usize, record: String, item: String, at: Option<i64> },
    /// A record that has a result.
    #[serde(rename = "r")]
    Record {
        record: String,
        /// The time of its last claim.
        claimed_at: i64,
        /// Whether its effect must be there.
        has_effect: bool,
    },
}

impl Entry {
    /// Where it belongs, out of so many places. All that is compared with it belongs there.
    pub(crate) fn place(&self, places: usize) -> usize {
        let mut hasher = Sha256::new();
        match self {
            Self::Business { table, key, .. } => {
                hasher.update(table.to_be_bytes());
                for part in key {
                    hasher.update(part.len().to_be_bytes());
                    hasher.update(part);
                }
            }
            Self::Effect { record, .. } | Self::Record { record, .. } => hasher.update(record),
        }
        // Sixty-four bits of it spread entries well enough.
        let number = hasher.finalize().iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte));
        usize::try_from(number % places.max(1) as u64).unwrap_or_default()
    }

    /// About how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        64 + match self {
            Self::Business { key, item, .. } => key.iter().map(|part| part.len() + 24).sum::<usize>() + item.len(),
            Self::Effect { record, item, .. } => record.len() + item.len(),
            Self::Record { record, .. } => record.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_has_one_place_however_finely_the_places_are_cut() {
        let effect = |item: &str| Entry::Effect { table: 1, record: "dev#a#v1#x".into(), item: item.into(), at: None };
        let record = Entry::Record { record: "dev#a#v1#x".into(), claimed_at: 7, has_effect: true };
        let business =
            |table, key: [&str; 2]| Entry::Business { table, key: key.map(Into::into).into(), item: "i".into() };
        assert_eq!(effect("a").place(1000), effect("b").place(1000));
        assert_eq!(effect("a").place(1000), record.place(1000));
        assert_eq!(business(1, ["a", "b"]).place(1 << 40), business(1, ["a", "b"]).place(1 << 40));
        assert_ne!(business(1, ["a", "bc"]).place(1 << 40), business(1, ["ab", "c"]).place(1 << 40));
        assert_ne!(business(1, ["a", "b"]).place(1 << 40), business(2, ["a", "b"]).place(1 << 40));
        for places in 1..20 {
            assert_eq!(record.place(places * 3) % places, record.place(places));
        }
    }
}
