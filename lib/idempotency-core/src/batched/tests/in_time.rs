//! A store that hangs: no call takes longer than it may because it is part of a batch.

use super::*;
use crate::Status;

/// A store that gives no answer until a call's time is over, and then as many as this of each batch.
struct Hangs {
    answers: usize,
}

fn nothing<T>() -> Result<T, StoreError> {
    Err(StoreError::Unknown("no reply".into()))
}

impl Store for Hangs {
    async fn insert_if_absent(&self, _: &Record, within: Duration) -> Result<Inserted, StoreError> {
        sleep(within).await;
        nothing()
    }

    async fn replace(&self, _: Version, _: &Record, within: Duration) -> Result<Replaced, StoreError> {
        sleep(within).await;
        nothing()
    }

    async fn get(&self, _: &RecordKey, within: Duration) -> Result<Option<Record>, StoreError> {
        sleep(within).await;
        nothing()
    }

    async fn write_many(&self, writes: &[Write], within: Duration) -> Vec<Result<Written, StoreError>> {
        sleep(within).await;
        writes.iter().take(self.answers).map(|_| nothing()).collect()
    }

    async fn get_many(&self, keys: &[RecordKey], within: Duration) -> Vec<Result<Option<Record>, StoreError>> {
        sleep(within).await;
        keys.iter().take(self.answers).map(|_| nothing()).collect()
    }

    async fn commit(&self, _: Option<&Write>, _: &[Effect], _: Duration) -> Result<Committed, StoreError> {
        nothing()
    }

    async fn insert_row(&self, _: &Row, _: Duration) -> Result<RowInserted, StoreError> {
        nothing()
    }

    async fn put_row(&self, _: &Row, _: Duration) -> Result<(), StoreError> {
        nothing()
    }

    async fn rows(&self, _: &RecordKey, _: ExecutionId, _: Duration) -> Result<Vec<Row>, StoreError> {
        nothing()
    }

    async fn put_parts(
        &self,
        _: &RecordKey,
        _: OwnerToken,
        _: &[Bytes],
        _: EpochSeconds,
        _: Duration,
    ) -> Result<(), StoreError> {
        nothing()
    }

    async fn get_parts(
        &self,
        _: &RecordKey,
        _: OwnerToken,
        _: u32,
        _: Duration,
    ) -> Result<Option<Vec<Bytes>>, StoreError> {
        nothing()
    }
}

const WITHIN: Duration = Duration::from_millis(400);

async fn claimed() -> Record {
    let engine = Engine::new(MemoryStore::default());
    let Claimed::Fresh(claim) = engine.claim(&request("x"), &policy()).await.unwrap() else { panic!() };
    claim.record().clone()
}

#[tokio::test(start_paused = true)]
async fn an_end_that_lingers_takes_no_longer_than_it_may() {
    let claimed = claimed().await;
    let ended = Record { status: Status::Completed, ..claimed.clone() };
    for answers in [0, 1] {
        let batched = Arc::new(Batched::new(Arc::new(Hangs { answers }), LINGER));
        let _others = (batched.flow(), batched.flow());
        let start = Instant::now();
        assert!(matches!(batched.replace(claimed.version(), &ended, WITHIN).await, Err(StoreError::Unknown(_))));
        assert_eq!(start.elapsed(), WITHIN, "{answers} answers");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_no_longer_because_others_of_its_batch_have_more_time() {
    let claimed = claimed().await;
    for (answers, leads) in [(0, true), (0, false), (2, true), (2, false)] {
        let batched = Arc::new(Batched::new(Arc::new(Hangs { answers }), LINGER));
        let short = async {
            let start = Instant::now();
            assert!(matches!(batched.insert_if_absent(&claimed, WITHIN).await, Err(StoreError::Unknown(_))));
            start.elapsed()
        };
        let long = async {
            let _ = batched.get(&claimed.key, 10 * WITHIN).await;
        };
        let took = match leads {
            true => tokio::join!(short, long).0,
            false => tokio::join!(long, short).1,
        };
        assert_eq!(took, WITHIN, "{answers} answers, leads {leads}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_any_time_does_not_wait_for_the_others_of_a_batch() {
    let batched = Batched::new(Arc::new(Hangs { answers: 0 }), Duration::ZERO);
    let (without, with) = (RecordKey::from_stored("a"), RecordKey::from_stored("b"));
    let begun = Instant::now();
    let first = async {
        assert!(batched.get(&without, Duration::ZERO).await.is_err());
        begun.elapsed()
    };
    let second = batched.get(&with, Duration::from_secs(1));
    assert_eq!(tokio::join!(first, second).0, Duration::ZERO);
}
