//! How often what happened: a mutator that makes nothing but nonsense would show here.

/// How many events met which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All events.
    pub events: u64,
    /// Refused when they were decoded.
    pub not_decoded: u64,
    /// `lambda_http` panicked: broken base64.
    pub panicked_base64: u64,
    /// `lambda_http` panicked: no URL can be made.
    pub panicked_url: u64,
    /// Taken for another kind of event than the trigger's.
    pub other_kind: u64,
    /// Answered 400 or 403 without running the handler.
    pub refused: u64,
    /// The handler ran with a key, and the effect happened once.
    pub effects: u64,
    /// The same event again was answered with the stored response.
    pub replays: u64,
    /// Another body under the same key was answered 422.
    pub mismatches: u64,
    /// The handler said that nothing happened; the same event again ran it again.
    pub released: u64,
    /// The handler said that nobody knows; the same event again was answered 409.
    pub abandoned: u64,
    /// The handler ran on a method that needs no key.
    pub unprotected: u64,
    /// What must happen could not be computed; only panics, the response and repetition were checked.
    pub unknown: u64,
}

impl Counts {
    /// Adds another run's counts.
    pub fn add(&mut self, other: &Self) {
        let Self {
            events,
            not_decoded,
            panicked_base64,
            panicked_url,
            other_kind,
            refused,
            effects,
            replays,
            mismatches,
            released,
            abandoned,
            unprotected,
            unknown,
        } = other;
        self.events += events;
        self.not_decoded += not_decoded;
        self.panicked_base64 += panicked_base64;
        self.panicked_url += panicked_url;
        self.other_kind += other_kind;
        self.refused += refused;
        self.effects += effects;
        self.replays += replays;
        self.mismatches += mismatches;
        self.released += released;
        self.abandoned += abandoned;
        self.unprotected += unprotected;
        self.unknown += unknown;
    }
}
