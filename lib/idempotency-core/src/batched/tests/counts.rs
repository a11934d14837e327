//! How many requests a batch costs, whatever its size, its duplicates and its handlers' times.

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::batched::FULL;

/// A message: how long its handler takes, and whether it was carried out before. An end lingers for a quarter of the 3 seconds
/// that the engine gives it.
fn message() -> impl Strategy<Value = (u64, bool)> {
    (0..700_u64, any::<bool>())
}

proptest! {
    #[test]
    fn a_batch_costs_one_request_for_its_claims_and_one_for_its_ends(
        messages in vec(message(), 1..=FULL),
        looks_first in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (asked, ran) = runtime.block_on(async {
            let store = Slow::default();
            let engine = Engine::new(store.clone()).batched(LINGER);
            let keys = keys(messages.len());
            let before: Vec<_> = keys.iter().zip(&messages).filter(|(_, (_, known))| *known).map(|(key, _)| key.clone()).collect();
            batch(&engine, &before, |_| Duration::ZERO, policy()).await;
            store.asked();
            let policy = policy().look_first(looks_first);
            let ran = batch(&engine, &keys, |n| Duration::from_millis(messages[n].0), policy).await;
            (store.asked(), ran)
        });
        let (all, fresh) = (messages.len(), messages.iter().filter(|(_, known)| !known).count());
        let mut promised = if looks_first { vec![format!("{all} gets")] } else { vec![format!("{all} inserts, 0 replaces")] };
        if fresh > 0 && looks_first {
            promised.push(format!("{fresh} inserts, 0 replaces"));
        }
        if fresh > 0 {
            promised.push(format!("0 inserts, {fresh} replaces"));
        }
        prop_assert_eq!((asked, ran), (promised, fresh));
    }
}
