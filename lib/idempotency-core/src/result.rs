//! How a result is kept with its record.

use bytes::Bytes;

/// A stored result: in the record, or beside it in parts.
///
/// The record itself stays small, because a failed conditional write (every replay is one) is billed by the size of the
/// stored item (DynamoDB Developer Guide, "DynamoDB read and write operations").
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoredResult {
    /// The encoded result: a codec byte, then the bytes.
    Inline(Bytes),
    /// The encoded result stands in items of its own.
    Parts(Parts),
}

/// Where an encoded result stands that is too large for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// In how many items.
    pub count: u32,
    /// How many bytes all parts have together.
    pub length: u64,
    /// SHA-256 of all parts together.
    pub sha256: [u8; 32],
}

impl StoredResult {
    /// The largest encoded result that stands in the record itself, in bytes. The limit keeps replays cheap: each is billed
    /// by the record's size.
    pub const MAX_INLINE: usize = 32 * 1024;
}

impl Parts {
    /// The largest part, in bytes. DynamoDB's limit for an item is 400 KB, names and keys included ("Service, account, and
    /// table quotas in Amazon DynamoDB").
    pub const MAX_SIZE: usize = 350 * 1024;
}
