//! The protocol with one guard removed.

/// A protocol to check: the production one, or one without one of its guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutant {
    /// The production protocol.
    None,
    /// A completion is written without looking whose record it is.
    CompleteWithoutOwner,
    /// A completion is written without any condition, even where no record is.
    CompleteUnconditionally,
    /// A release is written without looking whose record it is.
    ReleaseWithoutOwner,
    /// A release is written without any condition.
    ReleaseUnconditionally,
    /// A claim does not recognise its own record.
    NoSelfRecognition,
    /// All attempts share one token, as they would with the platform's request id.
    TokenIsRequestId,
    /// The lease ends with the deadline.
    MarginZero,
    /// A takeover is written without looking what it replaces.
    TakeoverWithoutCompareAndSwap,
    /// The effect runs although the claim was not answered.
    EffectAfterUnansweredClaim,
    /// A duplicate that is told to wait writes a new lease.
    DuplicateThatWrites,
    /// A record expires before its lease is over, and expiry is believed.
    ExpiryShorterThanLease,
    /// The fingerprint is compared only with records that have ended.
    FingerprintNotComparedInFlight,
    /// A record that cannot be read is taken for absent.
    UndecodableTakenForAbsent,
    /// The epoch is the clock's time alone.
    EpochIsTheClock,
    /// An ended record is replaced before it expires.
    TerminalIsReplaced,
    /// A compare-and-swap compares owner and status only. (The protocol as it first was; this model found the fault.)
    VersionWithoutEpoch,
    /// What nobody can say of a lost effect is taken for "it did not happen".
    ProbeUnknownReruns,
    /// A waiter whose time is over releases the record that it waited for.
    WaiterReleasesTheOwner,
    /// What a look before the claim shows is taken for the claim: nothing is written.
    LookAdmits,
}

impl Mutant {
    /// Every mutant.
    pub const ALL: [Self; 19] = [
        Self::CompleteWithoutOwner,
        Self::CompleteUnconditionally,
        Self::ReleaseWithoutOwner,
        Self::ReleaseUnconditionally,
        Self::NoSelfRecognition,
        Self::TokenIsRequestId,
        Self::MarginZero,
        Self::TakeoverWithoutCompareAndSwap,
        Self::EffectAfterUnansweredClaim,
        Self::DuplicateThatWrites,
        Self::ExpiryShorterThanLease,
        Self::FingerprintNotComparedInFlight,
        Self::UndecodableTakenForAbsent,
        Self::EpochIsTheClock,
        Self::TerminalIsReplaced,
        Self::VersionWithoutEpoch,
        Self::ProbeUnknownReruns,
        Self::WaiterReleasesTheOwner,
        Self::LookAdmits,
    ];
}
