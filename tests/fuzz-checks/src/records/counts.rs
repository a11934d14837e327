//! How often what happened: a mutator that makes nothing but nonsense would show here.

/// How many events, and records of first deliveries, met which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All events.
    pub events: u64,
    /// Events refused when they were decoded.
    pub not_decoded: u64,
    /// Events answered by an error, because a record that is not done has no identifier.
    pub no_identifier: u64,
    /// Events whose fate depends on which of two groups is quicker: only what holds for any event was checked.
    pub unknown: u64,
    /// Records of the others.
    pub records: u64,
    /// Records that cannot be read.
    pub undecodable: u64,
    /// Records that have no usable key.
    pub keyless: u64,
    /// Records behind one of their group that is not done.
    pub not_reached: u64,
    /// Records that ran to their end.
    pub fresh: u64,
    /// Records that another record of the event had carried out.
    pub replays: u64,
    /// Records whose key another one of the event has.
    pub mismatches: u64,
    /// Records whose key a lost attempt keeps.
    pub conflicts: u64,
    /// Records whose handler said that nothing happened.
    pub retryable: u64,
    /// Records that failed for good.
    pub failed: u64,
    /// Records whose handler gave up without a word, or panicked.
    pub abandoned: u64,
}

impl Counts {
    /// Adds another run's counts.
    pub fn add(&mut self, other: &Self) {
        let Self {
            events,
            not_decoded,
            no_identifier,
            unknown,
            records,
            undecodable,
            keyless,
            not_reached,
            fresh,
            replays,
            mismatches,
            conflicts,
            retryable,
            failed,
            abandoned,
        } = other;
        self.events += events;
        self.not_decoded += not_decoded;
        self.no_identifier += no_identifier;
        self.unknown += unknown;
        self.records += records;
        self.undecodable += undecodable;
        self.keyless += keyless;
        self.not_reached += not_reached;
        self.fresh += fresh;
        self.replays += replays;
        self.mismatches += mismatches;
        self.conflicts += conflicts;
        self.retryable += retryable;
        self.failed += failed;
        self.abandoned += abandoned;
    }
}
