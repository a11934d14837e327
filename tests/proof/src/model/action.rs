//! What can happen next.

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A second passes. Without zombies, attempts whose deadline has come are killed.
    Tick,
    /// An attempt begins, with a clock that is ahead by `skew` seconds.
    Begin {
        /// Which attempt.
        attempt: usize,
        /// How far its clock is ahead.
        skew: i64,
        /// Whether a read before its claim shows it what is stored. Without an answer nothing is known.
        looks: bool,
    },
    /// The network does something to an attempt's write.
    Network {
        /// Which attempt.
        attempt: usize,
        /// What it does.
        network: Network,
    },
    /// The attempt's effect happens.
    Effect {
        /// Which attempt.
        attempt: usize,
    },
    /// The attempt's handler returns.
    Return {
        /// Which attempt.
        attempt: usize,
        /// What it returns.
        returned: Return,
    },
    /// The outside world answers an attempt that asked what became of a lost one's effect.
    Probe {
        /// Which attempt.
        attempt: usize,
        /// What it says.
        says: Says,
    },
    /// A waiting attempt reads the record again.
    Look {
        /// Which attempt.
        attempt: usize,
    },
    /// A waiting attempt's time is over.
    StopWaiting {
        /// Which attempt.
        attempt: usize,
    },
    /// The attempt's process dies.
    Crash {
        /// Which attempt.
        attempt: usize,
    },
    /// The attempt reads the rows of its generation.
    ReadRows {
        /// Which attempt.
        attempt: usize,
    },
    /// The attempt comes to its next step, and calls it unless it knows its output.
    Step {
        /// Which attempt.
        attempt: usize,
    },
    /// The attempt undoes the next step that is to be undone.
    Undo {
        /// Which attempt.
        attempt: usize,
        /// What becomes of it.
        undone: Undone,
    },
    /// A row that its sender has given up on arrives.
    RowArrivesLate {
        /// Which of the late rows.
        row: usize,
    },
    /// A write that its sender has given up on arrives.
    ArriveLate {
        /// Which of the late writes.
        write: usize,
    },
    /// The table deletes an expired record.
    Delete,
    /// The record becomes unreadable for this version.
    Corrupt,
}

/// What becomes of a step that is to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Undone {
    /// It is undone.
    Done,
    /// It can be undone later.
    Later,
    /// It cannot be undone.
    Never,
}

/// What the network does to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// It is applied and answered.
    Deliver,
    /// It is applied and its reply is lost; the client sends it again, or gives up.
    LoseReply {
        /// Whether the client sends it again.
        again: bool,
    },
    /// It is not applied; the client sends it again, or gives up.
    Drop {
        /// Whether the client sends it again.
        again: bool,
    },
    /// It is not applied yet but may be later; the client sends it again, or gives up.
    Delay {
        /// Whether the client sends it again.
        again: bool,
    },
}

/// What the outside world says of a lost attempt's effect. It does not lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    /// It happened.
    Happened,
    /// It has not happened so far.
    DidNotHappen,
    /// Nobody can say.
    Unknown,
}

/// What a handler returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// A result; its effect has happened.
    Result,
    /// The effect did not happen and may be tried again.
    Retryable,
    /// The operation failed for good, without an effect.
    Permanent,
    /// An error that does not say.
    Unclassified,
}
