//! Calls and answers as people read them. Long bytes are cut to their length and beginning.

use std::fmt;

use bytes::Bytes;
use idempotency_core::{Record, StoredResult, Version};

use super::batch::{Batch, Kind};
use super::call::{Answer, Call};

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insert(record) => write!(f, "insert {}: {}", record.key, Shown(record)),
            Self::Replace { expected, record } => {
                write!(f, "replace {} if {}, by: {}", record.key, Shown(expected), Shown(record))
            }
            Self::Get(key) => write!(f, "get {key}"),
            Self::PutParts { key, owner, parts, expires_at } => {
                write!(f, "put parts {key} of {owner}: {}, until {expires_at}", Shown(parts))
            }
            Self::GetParts { key, owner, count } => write!(f, "get parts {key} of {owner}: the first {count}"),
        }
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Writes => "writes",
            Kind::Reads => "reads",
        };
        write!(f, "{} {kind} at once", self.members.len())?;
        self.members.iter().try_for_each(|call| write!(f, "\n     - {call}"))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inserted => f.write_str("inserted"),
            Self::Exists(old) => write!(f, "exists {}: {}", old.key, Shown(old)),
            Self::Replaced => f.write_str("replaced"),
            Self::Differs(None) => f.write_str("differs: nothing is stored"),
            Self::Differs(Some(old)) => write!(f, "differs {}: {}", old.key, Shown(old)),
            Self::Record(None) => f.write_str("no record"),
            Self::Record(Some(record)) => write!(f, "{}: {}", record.key, Shown(record)),
            Self::PartsStored => f.write_str("parts are stored"),
            Self::Parts(None) => f.write_str("a part is missing"),
            Self::Parts(Some(parts)) => write!(f, "{}", Shown(parts)),
        }
    }
}

// proptest asks for `Debug`; both forms are for people.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A value in one line.
pub(super) struct Shown<T>(pub(super) T);

impl fmt::Display for Shown<&Record> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { key: _, status: _, owner: _, execution, epoch: _, attempt, lease_until, expires_at, .. } = self.0;
        write!(f, "{}, execution {execution}, attempt {}", Shown(&self.0.version()), attempt.get())?;
        write!(f, ", lease until {lease_until}, expires at {expires_at}, fingerprint ")?;
        hex(f, self.0.fingerprint.as_bytes())?;
        match &self.0.result {
            None => f.write_str(", no result"),
            Some(StoredResult::Inline(bytes)) => write!(f, ", result {}", Shown(bytes)),
            Some(StoredResult::Parts(parts)) => {
                write!(f, ", result in {} parts of {} bytes, sha256 ", parts.count, parts.length)?;
                hex(f, &parts.sha256)
            }
        }
    }
}

impl fmt::Display for Shown<&Version> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} in epoch {}", self.0.status, self.0.owner, self.0.epoch.get())
    }
}

impl fmt::Display for Shown<&Vec<Bytes>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts", self.0.len())?;
        for (index, part) in self.0.iter().enumerate() {
            write!(f, "{} {}", if index == 0 { ":" } else { "," }, Shown(part))?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<&Bytes> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes ", self.0.len())?;
        hex(f, self.0)
    }
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    const SHOWN: usize = 4;
    f.write_str("[")?;
    for byte in bytes.iter().take(SHOWN) {
        write!(f, "{byte:02x}")?;
    }
    f.write_str(if bytes.len() > SHOWN { "…]" } else { "]" })
}
