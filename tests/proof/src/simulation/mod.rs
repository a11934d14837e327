//! The real engine in simulated time, from a seed.
//!
//! Time stands still until every task waits, so a run of minutes takes microseconds and a seed always gives the same run. A
//! seed chooses the policy, 2 to 16 requests with one key and when they come (many at once, at the end of a lease, at
//! expiry), what their handlers do, which of them crash, freeze or outlive their deadline, how far clocks are off, and what
//! happens to each call of the store: one in five is lost before or after it was applied, comes late, or is refused.
//!
//! In a quarter of the seeds the operation has two steps with undos, a memo, a marker and a staged transfer; in another quarter it
//! claims nothing and its whole effect is a staged transfer. The transfers of a run take from one account, in which there is not
//! enough for all, so that some are refused.
//!
//! In half of the seeds the requests are records of one to four batches: a few keys, some of them several times, on sandboxes that
//! send their calls together and let ends linger ([`Batched`](idempotency_core::Batched)); there whole batches are late too, and
//! members of a batch get no answer. One attempt in three looks before it claims. No call may take longer than it is given.

mod attempt;
mod clock;
mod judge;
mod judges;
mod link;
mod mutant;
mod plan;
mod steps;
mod store;
mod timeline;
mod work;
mod world;

use std::fmt;

use tokio::runtime::Runtime;

pub use self::{judge::Counts, mutant::Mutant};
use self::{plan::Plan, world::World};

/// What became of a seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// What must never happen and did.
    pub violations: Vec<String>,
    /// What happened, if it was to be told.
    pub timeline: Vec<String>,
    /// How often what happened.
    pub counts: Counts,
}

/// A simulator. Seeds do not depend on those before them.
#[derive(Debug)]
pub struct Simulator {
    runtime: Runtime,
    mutant: Mutant,
}

impl Simulator {
    /// A simulator for the current thread.
    ///
    /// # Errors
    ///
    /// When the operating system gives no runtime.
    pub fn new() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        Ok(Self { runtime, mutant: Mutant::None })
    }

    /// The same simulator of code with one guard removed.
    #[must_use]
    pub fn with_mutant(self, mutant: Mutant) -> Self {
        Self { mutant, ..self }
    }

    /// Runs one seed; `traced` says whether to tell what happens.
    pub fn run(&self, seed: u64, traced: bool) -> Outcome {
        self.runtime.block_on(async {
            let plan = Plan::new(seed);
            let world = World::new(&plan, traced, self.mutant);
            world.say(|| plan.to_string());
            world.play(&plan).await;
            world.judged(seed)
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.timeline {
            writeln!(f, "{line}")?;
        }
        for violation in &self.violations {
            writeln!(f, "VIOLATION {violation}")?;
        }
        write!(f, "replay it: cargo run --release -p proof -- simulate --first {} --seeds 1 --trace", self.seed)
    }
}
