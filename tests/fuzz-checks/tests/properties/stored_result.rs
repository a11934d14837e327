//! A stored result.

use std::{io::Write as _, time::Duration};

use bytes::Bytes;
use fuzz_checks::stored_result::check;
use idempotency_core::{
    ClaimError, Claimed, CodecError, Engine, Fingerprint, IdempotencyKey, MemoryStore, Namespace, Operation, Outcome,
    Policy, Request, Scope, Store, StoredResult, Window,
};
use proptest::{collection::vec, prelude::*};

const WITHIN: Duration = Duration::from_secs(1);

fn request(engine: &Engine<MemoryStore>) -> Request {
    Request {
        namespace: Namespace::new("fuzz").unwrap(),
        operation: Operation::declare("fuzz", 1),
        scope: Scope::none(),
        key: IdempotencyKey::new("k").unwrap(),
        fingerprint: Fingerprint::from_bytes([0; 32]),
        deadline: engine.now() + Duration::from_secs(10),
    }
}

/// An engine whose store has this result.
async fn completed(result: &[u8]) -> Engine<MemoryStore> {
    let engine = Engine::new(MemoryStore::default());
    let Claimed::Fresh(claim) = engine.claim(&request(&engine), &policy()).await.unwrap() else { panic!() };
    let _ = engine.complete(claim, Outcome::new(result.to_vec())).await;
    engine
}

fn policy() -> Policy {
    Policy::new(Window::http())
}

/// What a replay gets: the result, or the reason why there is none.
async fn replayed(engine: &Engine<MemoryStore>) -> Result<Bytes, CodecError> {
    match engine.claim(&request(engine), &policy()).await {
        Ok(Claimed::Replay(replay)) => Ok(replay.into_body().unwrap()),
        Err(ClaimError::Result(error)) => Err(error),
        other => panic!("{other:?}"),
    }
}

/// What a replay gets when the record's result is these encoded bytes.
async fn decoded(encoded: Vec<u8>) -> Result<Bytes, CodecError> {
    let mut record = completed(b"").await.store().records().remove(0);
    record.result = Some(StoredResult::Inline(encoded.into()));
    let store = MemoryStore::default();
    store.insert_if_absent(&record, WITHIN).await.unwrap();
    replayed(&Engine::new(store)).await
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(7);
    (0..length).map(|_| rng.u8(..)).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

proptest! {
    #[test]
    fn any_bytes_are_replayed_as_stored_or_said_to_be_unreadable(encoded in vec(any::<u8>(), 0..128)) {
        check(&encoded);
    }

    #[test]
    fn a_nearly_right_head_is_replayed_as_stored_or_said_to_be_unreadable(
        version in 0..3_u8,
        status in prop_oneof![Just(200), 0..70_000_u32],
        name in "[a-z\\-]{1,8}|[ -~]{0,4}|idempotent-replayed|Set-Cookie",
        value in "[ -~]{0,8}|\u{e9}|\u{0}",
        kind in "empty|text|binary|omitted|other",
        body in vec(any::<u8>(), 0..16),
        end in "\n|",
    ) {
        let header = serde_json::json!([[name, value]]);
        let head = format!(r#"{{"v":{version},"status":{status},"headers":{header},"body":"{kind}"}}{end}"#);
        check(&[&[0], head.as_bytes(), &body].concat());
    }

    #[test]
    fn a_result_comes_back_byte_for_byte_inline_and_compressed(
        piece in vec(any::<u8>(), 0..2048),
        times in 1..40_usize,
    ) {
        let result = piece.repeat(times);
        prop_assert_eq!(block_on(async { replayed(&completed(&result).await).await }).unwrap(), result);
    }
}

#[test]
fn parts_that_are_cut_or_altered_anywhere_are_an_error() {
    let result = noise(800_000);
    block_on(async {
        let engine = completed(&result).await;
        assert_eq!(replayed(&engine).await.unwrap(), result);
        let record = engine.store().records().remove(0);
        let Some(StoredResult::Parts(pointer)) = record.result else { panic!("{record:?}") };
        let parts = engine.store().get_parts(&record.key, record.owner, pointer.count, WITHIN).await.unwrap().unwrap();
        for (index, part) in parts.iter().enumerate() {
            for at in [0, part.len() / 2, part.len() - 1] {
                let mut flipped = part.to_vec();
                flipped[at] ^= 1;
                for altered in [flipped, part[..at].to_vec()] {
                    let mut parts = parts.clone();
                    parts[index] = altered.into();
                    let written =
                        engine.store().put_parts(&record.key, record.owner, &parts, record.expires_at, WITHIN);
                    written.await.unwrap();
                    assert!(matches!(replayed(&engine).await, Err(CodecError::Parts)), "part {index}, byte {at}");
                }
            }
        }
    });
}

#[test]
fn a_compressed_result_that_is_cut_is_an_error_and_altered_bytes_never_panic() {
    block_on(async {
        let engine = completed(&b"{\"status\":201}\n".repeat(200)).await;
        let record = engine.store().records().remove(0);
        let Some(StoredResult::Inline(encoded)) = record.result else { panic!("{record:?}") };
        assert_eq!(encoded[0], 1, "compressed");
        for length in 1..encoded.len() {
            assert!(decoded(encoded[..length].to_vec()).await.is_err(), "cut to {length} bytes");
        }
        for bit in 0..encoded.len() * 8 {
            let mut altered = encoded.to_vec();
            altered[bit / 8] ^= 1 << (bit % 8);
            let _ = decoded(altered).await;
        }
    });
}

#[test]
fn a_result_that_would_fill_the_memory_is_an_error() {
    const MIB: usize = 1024 * 1024;
    // Both forms of a frame: with the size said at its start, and without it, as a stream is written.
    let stated = |size: usize| zstd::bulk::compress(&vec![0; size], 3).unwrap();
    let unstated = |size: usize| {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
        encoder.write_all(&vec![0; size]).unwrap();
        encoder.finish().unwrap()
    };
    for compress in [&stated as &dyn Fn(usize) -> Vec<u8>, &unstated] {
        for (size, fits) in [(64 * MIB, true), (64 * MIB + 1, false)] {
            let encoded = [vec![1], compress(size)].concat();
            assert!(encoded.len() < 32 * 1024, "a bomb: {} bytes", encoded.len());
            let decoded = block_on(decoded(encoded));
            assert_eq!(decoded.is_ok_and(|bytes| bytes.len() == size), fits, "{size}");
        }
    }
}
