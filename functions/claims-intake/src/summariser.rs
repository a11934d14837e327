//! What words the summary of a document.

use futures::future::BoxFuture;
use lambda_idempotency::Attempt;
use lambda_runtime::Error;
use serde::{Deserialize, Serialize};

use crate::callee::{CallError, Callee};

/// The most characters of a summary. It stands beside each chunk.
const LONGEST: usize = 2000;

/// Words the summary of a document, differently each time, as language models do. Calling it has no effect.
pub(crate) trait Summariser: Send + Sync {
    /// Asks for a summary of the text.
    ///
    /// # Errors
    ///
    /// [`SummaryError`] when there is none. Another call may give one, unless the text was refused.
    fn summarise<'a>(&'a self, text: &'a str, attempt: &'a Attempt) -> BoxFuture<'a, Result<String, SummaryError>>;
}

/// A summariser over HTTP: `POST {base}/v1/summaries` with `{"text": …}` answers `{"summary": …}`.
pub(crate) struct HttpSummariser(Callee);

/// There is no summary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SummaryError {
    #[error("the summariser gave no summary: {0}")]
    Call(#[from] CallError),
    /// Nothing, or too much.
    #[error("the summariser gave a summary of {characters} characters; it must have 1 to {LONGEST}")]
    Length { characters: usize },
}

#[derive(Serialize)]
struct Asked<'a> {
    text: &'a str,
}

#[derive(Deserialize)]
struct Answered {
    summary: String,
}

impl HttpSummariser {
    /// The summariser at the URL in the environment variable of this name.
    pub(crate) fn new(variable: &str, base: &str) -> Result<Self, Error> {
        Callee::new(variable, base, "v1/summaries").map(Self)
    }
}

impl Summariser for HttpSummariser {
    fn summarise<'a>(&'a self, text: &'a str, attempt: &'a Attempt) -> BoxFuture<'a, Result<String, SummaryError>> {
        Box::pin(async move {
            let response = self.0.post(&Asked { text }, None, attempt).await?;
            let Answered { summary } = response.json().await.map_err(CallError::unusable)?;
            match summary.trim().chars().count() {
                1..=LONGEST => Ok(summary.trim().to_owned()),
                characters => Err(SummaryError::Length { characters }),
            }
        })
    }
}

impl SummaryError {
    /// Whether each further call would end the same way.
    pub(crate) const fn is_final(&self) -> bool {
        matches!(self, Self::Call(CallError::Refused(_)))
    }
}
