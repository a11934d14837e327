//! A record as DynamoDB gives it back.

use fuzz_checks::{
    Choices,
    record_item::{check, mutated},
};
use idempotency_dynamodb::record_from_item;

#[test]
fn an_item_is_read_whole_or_refused_with_the_true_reason() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let item = mutated(&mut Choices::seeded(seed));
        check(&item);
        *if record_from_item(&item).is_ok() { &mut read } else { &mut refused } += 1;
    }
    assert!(read > 5_000 && refused > 5_000, "{read} read, {refused} refused");
}
