//! Whether requests are deduplicated.

use std::{fmt, str::FromStr};

/// Whether requests are deduplicated: the switch for an emergency and for a careful introduction.
///
/// [`Idempotency::from_env`](crate::Idempotency::from_env) reads it from the environment variable `IDEMPOTENCY_MODE`, and says
/// so once in the log, at start-up, when it is not `enforce`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// `enforce`: everything that this crate promises.
    #[default]
    Enforce,
    /// `shadow`: every request runs, duplicates included, and the log tells by `would_be` what would have been replayed or
    /// refused. For measuring before switching on. Records are written, so the table must be there; if it does not answer,
    /// requests run all the same.
    Shadow,
    /// `off`: the store is not used, and every request runs. Requests without a key are refused as ever. For an outage of the
    /// table in which running twice does less harm than not running.
    Off,
}

/// The text is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no mode; say enforce, shadow or off")]
pub struct ModeError(String);

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        match text {
            "enforce" => Ok(Self::Enforce),
            "shadow" => Ok(Self::Shadow),
            "off" => Ok(Self::Off),
            _ => Err(ModeError(text.to_owned())),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enforce => "enforce",
            Self::Shadow => "shadow",
            Self::Off => "off",
        })
    }
}
