//! Where a generator's decisions come from.

use fastrand::Rng;

/// A generator's decisions: from a seed, so that a number repeats a run, or from a fuzzer's bytes, so that the fuzzer can learn
/// which decision led where.
#[derive(Debug)]
pub struct Choices<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    Seed(Rng),
    Bytes(&'a [u8]),
}

impl<'a> Choices<'a> {
    /// Decisions that follow from a number.
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seed(Rng::with_seed(seed)))
    }

    /// Decisions that follow from bytes; when they are used up every decision is the first one.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(Source::Bytes(bytes))
    }

    /// A number below `limit`, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        match &mut self.0 {
            Source::Seed(rng) => rng.usize(..limit.max(1)),
            Source::Bytes(bytes) => {
                let wide = limit > 256;
                let (taken, rest) = bytes.split_at(bytes.len().min(if wide { 2 } else { 1 }));
                *bytes = rest;
                taken.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)) % limit.max(1)
            }
        }
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Whether something happens that happens once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}
