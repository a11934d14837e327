//! Which parts are stored for certain. Parts of one call are sent together, so it is not told which of them met a fault.

use std::collections::BTreeMap;

use bytes::Bytes;
use idempotency_core::{OwnerToken, RecordKey};

use super::fault::Transmission;
use super::told::Told;
use crate::store_conformance::call::{Answer, Call};

#[derive(Default)]
pub(super) struct PartsOf(BTreeMap<(RecordKey, OwnerToken), Stored>);

#[derive(Clone)]
struct Stored {
    parts: Vec<Bytes>,
    /// Not so after a call without success.
    certain: bool,
}

impl PartsOf {
    /// A call on parts was made, and the caller was told `told`. The error has what may have been told instead.
    pub(super) fn called(&mut self, call: &Call, transmissions: &[Transmission], told: &Told) -> Result<(), Vec<Told>> {
        let mut allowed = match call {
            Call::PutParts { .. } => vec![Told::Answer(Answer::PartsStored)],
            Call::GetParts { key, owner, count } => self.readable(key, *owner, *count),
            Call::Insert(_) | Call::Replace { .. } | Call::Get(_) => return Ok(()),
        };
        let faults = transmissions.iter().filter(|transmission| **transmission != Transmission::Passes);
        allowed.extend(faults.map(|fault| fault.told(Answer::PartsStored)));
        if !allowed.contains(told) {
            return Err(allowed);
        }
        if let Call::PutParts { key, owner, parts, .. } = call {
            let place = (key.clone(), *owner);
            let before = self.0.get(&place).is_some_and(|stored| stored.certain);
            let certain = before || matches!(told, Told::Answer(_));
            self.0.insert(place, Stored { parts: parts.clone(), certain });
        }
        Ok(())
    }

    /// What a read may find.
    fn readable(&self, key: &RecordKey, owner: OwnerToken, count: u32) -> Vec<Told> {
        let stored = self.0.get(&(key.clone(), owner));
        let parts = stored.map_or(&[][..], |stored| &stored.parts);
        let first = parts.get(..count as usize).map(<[Bytes]>::to_vec);
        let mut readable = vec![Told::Answer(Answer::Parts(first))];
        if count > 0 && stored.is_some_and(|stored| !stored.certain) {
            readable.push(Told::Answer(Answer::Parts(None)));
        }
        readable
    }
}
