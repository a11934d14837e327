//! A table of the user's, as the checks of effects need it.

use std::error::Error;
use std::future::Future;

/// A table of counters, for [`check_effects`](super::check_effects): its items have a partition key `id` (S) and a number `n`. It
/// stands where the store's writes go. All items are new, so it need not be empty.
pub trait Counters: Sync {
    /// The table's name.
    fn table(&self) -> &str;

    /// The number of an item; `None` where there is no item. As fresh as a strongly consistent read.
    ///
    /// # Errors
    ///
    /// Whatever keeps the item from being read; the check ends with it.
    fn number(&self, id: &str) -> impl Future<Output = Result<Option<i64>, Box<dyn Error + Send + Sync>>> + Send;
}
