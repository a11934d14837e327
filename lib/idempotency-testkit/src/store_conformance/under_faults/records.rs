//! Every state in which a record may be.

use std::collections::{BTreeMap, HashSet};

use idempotency_core::{Record, RecordKey};

use super::fault::Transmission;
use super::told::Told;
use crate::store_conformance::call::{Answer, Call};
use crate::store_conformance::reference::write;

/// One possible state of one key: what is stored, and which writes have not landed.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct World {
    record: Option<Record>,
    late: Vec<Call>,
}

impl World {
    /// The write is applied now; its answer.
    fn apply(&mut self, call: &Call) -> Answer {
        let (answer, stored) = write(self.record.as_ref(), call);
        if stored.is_some() {
            self.record = stored;
        }
        answer
    }

    /// The states after one late write has landed.
    fn with_one_landed(&self) -> impl Iterator<Item = Self> {
        (0..self.late.len()).map(|index| {
            let mut world = self.clone();
            let call = world.late.remove(index);
            world.apply(&call);
            world
        })
    }
}

/// A transmission that carried a call of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Whether it reads; else it writes.
    pub(super) reads: bool,
    pub(super) transmission: Transmission,
}

/// The possible states of all keys. Keys do not depend on each other.
#[derive(Default)]
pub(super) struct Records(BTreeMap<RecordKey, HashSet<World>>);

impl Records {
    /// A write or a read was transmitted `sent` times, and the caller was told `told` in the end. Keeps the states in which that may
    /// happen; the error has what may have been told instead.
    pub(super) fn called(
        &mut self,
        call: &Call,
        transmissions: &[Transmission],
        sent: usize,
        told: &Told,
    ) -> Result<(), Vec<Told>> {
        let mut ends: Vec<_> = self.possible(call.key()).into_iter().map(|world| (Told::Unknown, world)).collect();
        for index in 0..sent {
            let transmission = transmissions.get(index).copied().unwrap_or(Transmission::Passes);
            let worlds = landed(ends.into_iter().map(|(_, world)| world));
            ends = worlds.into_iter().map(|world| transmit(world, call, transmission)).collect();
        }
        self.keep(call, ends, told)
    }

    /// A call was carried by these transmissions, as a member of a batch, and the caller was told `told` in the end: what the last of
    /// them says. Otherwise as [`called`](Self::called).
    pub(super) fn settled(&mut self, call: &Call, sent: &[Sent], is_write: bool, told: &Told) -> Result<(), Vec<Told>> {
        let mut ends: Vec<_> = self.possible(call.key()).into_iter().map(|world| (Told::Unknown, world)).collect();
        for Sent { reads, transmission } in sent {
            let worlds = landed(ends.into_iter().map(|(_, world)| world));
            let carry = |world| match reads {
                true if is_write => look(world, call, *transmission),
                _ => transmit(world, call, *transmission),
            };
            ends = worlds.into_iter().map(carry).collect();
        }
        self.keep(call, ends, told)
    }

    /// Keeps the states in which the caller is told `told`.
    fn keep(&mut self, call: &Call, ends: Vec<(Told, World)>, told: &Told) -> Result<(), Vec<Told>> {
        let (fitting, others): (Vec<_>, Vec<_>) = ends.into_iter().partition(|(end, _)| end == told);
        if fitting.is_empty() {
            return Err(others.into_iter().map(|(told, _)| told).collect());
        }
        self.0.insert(call.key().clone(), fitting.into_iter().map(|(_, world)| world).collect());
        Ok(())
    }

    /// A write is on its way and may land at any moment.
    pub(super) fn late(&mut self, call: &Call) {
        let worlds = self.possible(call.key()).into_iter().map(|mut world| {
            world.late.push(call.clone());
            world
        });
        let worlds = worlds.collect();
        self.0.insert(call.key().clone(), worlds);
    }

    /// All late writes have landed.
    pub(super) fn all_landed(&mut self) {
        for worlds in self.0.values_mut() {
            *worlds = landed(worlds.drain());
            worlds.retain(|world| world.late.is_empty());
        }
    }

    /// The possible states of a key now, whatever has landed since the last call.
    fn possible(&self, key: &RecordKey) -> HashSet<World> {
        match self.0.get(key) {
            Some(worlds) => landed(worlds.iter().cloned()),
            None => HashSet::from([World::default()]),
        }
    }
}

fn transmit(before: World, call: &Call, transmission: Transmission) -> (Told, World) {
    let mut after = before.clone();
    let told = transmission.told(after.apply(call));
    (told, if transmission.is_applied() { after } else { before })
}

/// A read of what refused a write, which the write's caller is told.
fn look(world: World, call: &Call, transmission: Transmission) -> (Told, World) {
    let stored = world.record.clone();
    let answer = match (call, stored) {
        (Call::Insert(_), Some(stored)) => Answer::Exists(stored),
        (_, stored) => Answer::Differs(stored),
    };
    (transmission.told(answer), world)
}

/// The states with any of their late writes landed, in any order.
fn landed(worlds: impl IntoIterator<Item = World>) -> HashSet<World> {
    let mut seen = HashSet::new();
    let mut open: Vec<World> = worlds.into_iter().collect();
    while let Some(world) = open.pop() {
        if !seen.contains(&world) {
            open.extend(world.with_one_landed());
            seen.insert(world);
        }
    }
    seen
}
