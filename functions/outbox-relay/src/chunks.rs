//! What fits into one request.

use std::ops::Range;

/// `PutEvents` and `SendMessageBatch` take up to 10 entries (their API references).
const MOST_ENTRIES: usize = 10;

/// The most bytes of several entries: what either service has always taken. By now it is 1 MiB.
const MOST_BYTES: usize = 256 * 1024;

/// Cuts a sequence of entries of these sizes into requests. One that is too large by itself is alone.
pub(crate) fn chunks(sizes: &[usize]) -> Vec<Range<usize>> {
    let (mut chunks, mut start, mut bytes) = (Vec::new(), 0, 0_usize);
    for (place, size) in sizes.iter().enumerate() {
        let is_full = place - start == MOST_ENTRIES || bytes.saturating_add(*size) >= MOST_BYTES;
        if is_full && place > start {
            chunks.push(start..place);
            (start, bytes) = (place, 0);
        }
        bytes = bytes.saturating_add(*size);
    }
    if start < sizes.len() {
        chunks.push(start..sizes.len());
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_at_most_ten_entries_and_less_than_its_bytes() {
        assert!(chunks(&[]).is_empty());
        assert_eq!(chunks(&[1; 21]), [0..10, 10..20, 20..21]);
        let half = MOST_BYTES / 2;
        assert_eq!(chunks(&[half, half - 1, 1, half]), [0..2, 2..4]);
        assert_eq!(chunks(&[half, half]), [0..1, 1..2]);
        assert_eq!(chunks(&[1, MOST_BYTES * 2, 1]), [0..1, 1..2, 2..3]);
    }
}
