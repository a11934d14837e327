//! Exhaustive search: every order of every step of a few attempts at one key, with every fault.
//!
//! One tick is one second. What an attempt does at each step is decided by the production functions; what the store does is
//! the contract of [`Store`](idempotency_core::Store), an atomic compare-and-swap on one record. Between the two stands a
//! network that delivers, drops, loses the reply, or delivers late, and a client that may send each write a second time.
//! Around them stands a platform that kills at the deadline, or does not (a zombie), and a table that may delete a record at
//! any time after its expiry.
//!
//! What the operation does is a [`Work`]: one effect outside, an effect that commits with the record (after a claim, or without any),
//! or steps whose outputs stand in rows and which are undone when the operation fails for good. Rows travel over the same network.
//! What is known to a handler is what counts: a row whose reply nobody has had may come late, as long after the fact as it likes.

mod action;
mod attempt;
mod properties;
mod protocol;
mod state;
mod steps;
mod work;
mod world;

use std::fmt;

use idempotency_core::{EpochMillis, OnAbandoned};

pub use self::{
    action::{Action, Network, Return, Says, Undone},
    attempt::{Attempt, Phase, Told},
    state::{State, Stored, Violations},
    work::{Beside, Row, Work},
};
use crate::Mutant;

/// What is searched.
#[derive(Clone, Debug)]
pub struct Model {
    /// What the operation does.
    pub work: Work,
    /// How many attempts there are at the key.
    pub attempts: usize,
    /// What happens after a lost attempt.
    pub on_abandoned: OnAbandoned,
    /// How far each attempt's clock may be ahead of the true time, in seconds.
    pub skews: Vec<i64>,
    /// Whether an attempt may go on after its deadline.
    pub zombies: bool,
    /// Whether the last attempt sends another request under the same key.
    pub other_request: bool,
    /// Whether the stored record may become unreadable.
    pub corruption: bool,
    /// Whether the network delivers everything at once.
    pub calm: bool,
    /// Whether a duplicate waits for the attempt in flight.
    pub waits: bool,
    /// Whether an attempt may look before its claim.
    pub looks: bool,
    /// The last second.
    pub until: i64,
    /// The protocol.
    pub mutant: Mutant,
}

impl Model {
    /// A small model of the production protocol: two attempts, exact clocks, no zombies.
    pub fn new(on_abandoned: OnAbandoned) -> Self {
        Self {
            work: Work::Effect,
            attempts: 2,
            on_abandoned,
            skews: vec![0],
            zombies: false,
            other_request: false,
            corruption: false,
            calm: false,
            waits: false,
            looks: false,
            until: 8,
            mutant: Mutant::None,
        }
    }
}

impl Model {
    /// The models of the long run: everything at once, and three attempts.
    pub fn long() -> Vec<Self> {
        let (rerun, reject) = (Self::new(OnAbandoned::Rerun), Self::new(OnAbandoned::Reject));
        let probe = Self::new(OnAbandoned::Probe);
        vec![
            Self { zombies: true, until: 7, ..rerun.clone() },
            Self { skews: vec![0, 3], ..rerun.clone() },
            Self { zombies: true, other_request: true, corruption: true, ..rerun.clone() },
            Self { zombies: true, skews: vec![0, 5], until: 4, ..reject.clone() },
            Self { zombies: true, until: 6, ..probe.clone() },
            Self { skews: vec![0, 3], until: 7, ..probe.clone() },
            Self { waits: true, zombies: true, until: 5, ..rerun.clone() },
            Self { waits: true, ..probe.clone() },
            Self { looks: true, zombies: true, until: 5, ..rerun.clone() },
            Self { looks: true, other_request: true, corruption: true, ..rerun.clone() },
            Self { looks: true, skews: vec![0, 3], until: 6, ..reject.clone() },
            Self { looks: true, until: 7, ..probe },
            Self { work: Work::Staged, attempts: 3, until: 4, ..rerun.clone() },
            Self { work: Work::Staged, zombies: true, skews: vec![0, 3], until: 5, ..rerun.clone() },
            Self { work: Work::Atomic, attempts: 3, zombies: true, other_request: true, until: 4, ..rerun.clone() },
            Self { work: Work::Atomic, zombies: true, looks: true, skews: vec![0, 3], ..rerun.clone() },
            Self { work: Work::AtomicAfterClaim, attempts: 3, zombies: true, until: 4, ..rerun.clone() },
            Self { work: Work::Steps, until: 5, ..rerun.clone() },
            Self { work: Work::Steps, zombies: true, until: 4, ..rerun.clone() },
            Self { work: Work::Steps, attempts: 3, calm: true, until: 9, ..rerun.clone() },
            Self { work: Work::Steps, attempts: 3, calm: true, zombies: true, until: 5, ..rerun.clone() },
            Self { work: Work::Steps, skews: vec![0, 3], calm: true, until: 9, ..reject.clone() },
            Self { attempts: 3, other_request: true, until: 4, ..rerun },
            Self { attempts: 3, other_request: true, until: 4, ..reject },
        ]
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, attempts, on_abandoned, skews, zombies, other_request, corruption, .. } = self;
        let Self { calm, waits, looks, until, mutant, .. } = self;
        write!(
            f,
            "{work:?}, {attempts} attempts, {on_abandoned:?}, skews {skews:?} s, zombies {zombies}, other request {other_request}, \
             corruption {corruption}, calm {calm}, waits {waits}, looks {looks}, until {until} s, mutant {mutant:?}"
        )
    }
}

/// A point in true time.
fn seconds(seconds: i64) -> EpochMillis {
    // Not zero, so that a wrong unit or a default would stand out.
    EpochMillis::new(1_000_000_000 + seconds * 1000)
}
