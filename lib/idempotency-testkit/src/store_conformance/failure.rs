use std::fmt;

/// The store does not keep the contract of [`idempotency_core::Store`].
///
/// `Debug` is the same text as `Display`, so that `unwrap` in a test shows the calls in lines.
#[non_exhaustive]
pub enum Nonconformance {
    /// A sequence of calls, one after the other, has an answer that the contract does not allow. No call of it can be left
    /// out, if it was searched for.
    Sequence(FailedSequence),
    /// Calls at the same time have answers that do not fit together.
    Race {
        /// What the race is about.
        race: &'static str,
        /// What was expected, and what came.
        failure: FailedCall,
    },
    /// A call has an answer that the contract does not allow.
    Check {
        /// What the contract says there.
        check: &'static str,
        /// What was expected, and what came.
        failure: FailedCall,
    },
    /// No sequence could be made; this is a fault of the suite.
    NotGenerated(proptest::test_runner::Reason),
}

/// The shortest sequence that was found to fail.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedSequence {
    /// The calls and their answers, in order.
    pub calls: Vec<String>,
    /// The call after them.
    pub failure: FailedCall,
    /// How to find it again: the seed and the number of sequences tried with it.
    pub found: Option<(u64, u32)>,
}

/// A call with a wrong answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedCall {
    /// The call.
    pub call: String,
    /// What the contract allows.
    pub expected: String,
    /// What the store answered.
    pub answered: String,
}

impl std::error::Error for Nonconformance {}

impl fmt::Display for Nonconformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequence(sequence) => sequence.fmt(f),
            Self::Race { race, failure } => write!(f, "the store fails in a race, {race}:\n{failure}"),
            Self::Check { check, failure } => write!(f, "the store does not keep to this, {check}:\n{failure}"),
            Self::NotGenerated(reason) => write!(f, "no sequence of calls could be made: {reason}"),
        }
    }
}

impl fmt::Display for FailedSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store answers what the contract does not allow")?;
        if let Some((seed, case)) = self.found {
            write!(f, " (seed {seed}, sequence {case}; shortened)")?;
        }
        f.write_str(":\n")?;
        for (number, call) in self.calls.iter().enumerate() {
            writeln!(f, "{:3}. {call}", number + 1)?;
        }
        write!(f, "{:3}. {}", self.calls.len() + 1, self.failure)
    }
}

impl fmt::Display for FailedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n     expected: {}\n     answered: {}", self.call, self.expected, self.answered)
    }
}

impl fmt::Debug for Nonconformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for FailedSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error and what caused it, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
