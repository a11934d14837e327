//! Result bytes as they are stored: a codec byte, then the bytes, compressed where that helps.

use bytes::Bytes;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// Below this size compression saves less than a write unit (1 KB).
const COMPRESS_FROM: usize = 1024;

/// zstd's own default level: results are small and the handler's caller is waiting.
const LEVEL: i32 = 3;

/// More than any Lambda response, less than what would exhaust the smallest function.
const MAX_DECODED: usize = 64 * 1024 * 1024;

/// A stored result that cannot be decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// There is no codec byte.
    #[error("the stored result is empty")]
    Empty,
    /// A newer version wrote it.
    #[error("the stored result has codec {0}, which this version cannot read")]
    UnknownCodec(u8),
    /// The compressed bytes are damaged.
    #[error("the stored result is damaged")]
    Damaged(#[source] std::io::Error),
    /// The parts are missing, cut or altered.
    #[error("the stored result's parts are missing or altered")]
    Parts,
}

/// Encodes result bytes.
pub(crate) fn encode(result: &[u8]) -> Bytes {
    if result.len() >= COMPRESS_FROM
        && let Ok(compressed) = zstd::bulk::compress(result, LEVEL)
        && compressed.len() < result.len()
    {
        return with_codec(ZSTD, &compressed);
    }
    with_codec(PLAIN, result)
}

/// Decodes what [`encode`] gave.
pub(crate) fn decode(stored: &Bytes) -> Result<Bytes, CodecError> {
    match stored.first() {
        None => Err(CodecError::Empty),
        Some(&PLAIN) => Ok(stored.slice(1..)),
        Some(&ZSTD) => {
            let compressed = stored.slice(1..);
            // To zstd nothing at all is a valid sequence of no frames.
            if compressed.is_empty() {
                return Err(CodecError::Damaged(std::io::ErrorKind::UnexpectedEof.into()));
            }
            let capacity = zstd::bulk::Decompressor::upper_bound(&compressed).unwrap_or(MAX_DECODED).min(MAX_DECODED);
            zstd::bulk::decompress(&compressed, capacity).map(Bytes::from).map_err(CodecError::Damaged)
        }
        Some(&codec) => Err(CodecError::UnknownCodec(codec)),
    }
}

fn with_codec(codec: u8, bytes: &[u8]) -> Bytes {
    let mut stored = Vec::with_capacity(bytes.len() + 1);
    stored.push(codec);
    stored.extend_from_slice(bytes);
    stored.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn empty_small_and_repetitive_results_come_back() {
        for result in [&b""[..], b"null", b"0", &[0xff, 0x00, 0xfe], &b"repetition ".repeat(1000)] {
            assert_eq!(decode(&encode(result)).unwrap(), result);
        }
        assert!(encode(&b"repetition ".repeat(1000)).len() < 200);
    }

    #[test]
    fn damaged_and_unknown_codecs_are_errors() {
        assert!(matches!(decode(&Bytes::new()), Err(CodecError::Empty)));
        assert!(matches!(decode(&Bytes::from_static(&[9, 1])), Err(CodecError::UnknownCodec(9))));
        assert!(matches!(decode(&Bytes::from_static(&[1, 1, 2, 3])), Err(CodecError::Damaged(_))));
    }

    #[test]
    fn a_compressed_result_that_was_cut_is_an_error() {
        let encoded = encode(&b"repetition ".repeat(1000));
        for length in 0..encoded.len() {
            assert!(decode(&encoded.slice(..length)).is_err(), "cut to {length} bytes");
        }
    }

    proptest! {
        #[test]
        fn any_result_comes_back_byte_for_byte(result in proptest::collection::vec(any::<u8>(), 0..8192)) {
            prop_assert_eq!(decode(&encode(&result)).unwrap(), result);
        }

        #[test]
        fn decoding_anything_never_panics(stored in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = decode(&Bytes::from(stored));
        }
    }
}
