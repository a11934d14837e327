//! Memos: what a non-deterministic call gave for an input.

use std::future::Future;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Attempt, StepError,
    desk::Kept,
    effects::StepOutput,
    value::{from_json, short_type_name, to_json},
};
use crate::{RowKind, canonical_json, hash::PartsHasher};

impl Attempt {
    /// Makes a call that gives something else each time, such as a language model's, and stores what it gave before anyone sees it:
    /// attempts that follow a lost or released one get the same for the same input. Another input is another memo.
    ///
    /// The output has any size, and comes back as it was stored. On the first attempt a memo costs one write, and no read, unless two
    /// of one name and input run in one attempt: then both may call, and both get what was stored first.
    ///
    /// Dropping the future may leave the call made and its output not stored; the next attempt calls again.
    ///
    /// ```
    /// # use idempotency_core::Attempt;
    /// # type Error = Box<dyn std::error::Error + Send + Sync>;
    /// # async fn ask_the_model(_: &str) -> Result<String, Error> { Ok("short".into()) }
    /// async fn summarise(text: &str, attempt: &Attempt) -> Result<String, Error> {
    ///     attempt.memo("summary", &("model-7", text), async || ask_the_model(text).await).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The call's own, or a [`StepError`].
    pub async fn memo<T, E, F>(&self, name: &str, input: &impl Serialize, call: impl FnOnce() -> F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<StepError>,
        F: Future<Output = Result<T, E>>,
    {
        self.effects.may_begin(name)?;
        let json = to_json(name, input)?;
        // In the one spelling of equal values: a map's order may differ between attempts.
        let input = canonical_json(&json).unwrap_or(json);
        let hash = PartsHasher::new("idempotency-memo-v1").part(&input).finish();
        let mut earlier = self.effects.earlier(self).await?.memos.iter();
        if let Some((_, _, output)) = earlier.find(|memo| memo.0 == name && memo.1 == hash) {
            return Ok(from_json(name, output)?);
        }
        let json = to_json(name, &call().await?)?.into();
        Ok(self.keep_memo(name, hash, StepOutput { type_name: short_type_name::<T>(), json }).await?)
    }

    async fn keep_memo<T: DeserializeOwned>(
        &self,
        name: &str,
        input: [u8; 32],
        output: StepOutput,
    ) -> Result<T, StepError> {
        if let Some(desk) = &self.effects.desk {
            let row = self.new_row(RowKind::Memo { input }, name, &output.type_name);
            if let Kept::Other(other, json) = desk.keep(row, Some(&output.json), self.deadline).await? {
                return from_json(name, &StepOutput { type_name: other.type_name, json });
            }
        }
        from_json(name, &output)
    }
}
