//! A language model's stand-in: it words its summary differently on every call.
//!
//! `POST /v1/summaries` with `{"text": "…"}` answers 200 and `{"summary": "…"}`; the number of the call is in it, so two calls never agree.

use std::net::SocketAddr;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{Json, Router, extract::State, routing::post};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::BindError;
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::server_task::ServerTask;

/// The most characters of a text that a summary repeats.
const LONGEST: usize = 100;

/// The server. See the [module's documentation](self).
///
/// Dropping it closes its port.
#[derive(Debug)]
pub struct Summariser {
    url: String,
    calls: Arc<AtomicU64>,
    server: ServerTask,
}

#[derive(Deserialize)]
struct Asked {
    text: String,
}

impl Summariser {
    /// Starts on a free port.
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// When there is no loopback port left.
    pub async fn start() -> Result<Self, BindError> {
        Self::start_on(ANY_PORT).await
    }

    /// Starts on `address`, for a port that stays the same between runs.
    ///
    /// Dropping the future before it completes starts nothing.
    ///
    /// # Errors
    ///
    /// [`BindError`] names the address when its port is in use.
    pub async fn start_on(address: SocketAddr) -> Result<Self, BindError> {
        let (listener, bound) = bind(address).await?;
        let calls = Arc::<AtomicU64>::default();
        let app = Router::new().route("/v1/summaries", post(summarise)).with_state(Arc::clone(&calls));
        let server = ServerTask::spawn(|stop| async move {
            if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(stop.wait()).await {
                tracing::error!(%error, "summariser stopped");
            }
        });
        Ok(Self { url: format!("http://{bound}"), calls, server })
    }

    /// The base URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many summaries it has made.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Stops it, after letting running requests finish.
    ///
    /// Dropping the future early stops it as well, without waiting for those requests.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

/// The text's beginning, which is short whatever the text is made of.
fn words(text: &str, call: u64) -> String {
    let beginning: Vec<_> = text.split_whitespace().take(8).collect();
    let beginning: String = beginning.join(" ").chars().take(LONGEST).collect();
    format!("{beginning} … (in the words of call {call})")
}

async fn summarise(State(calls): State<Arc<AtomicU64>>, Json(asked): Json<Asked>) -> Json<Value> {
    let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
    Json(json!({ "summary": words(&asked.text, call) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_calls_agree_and_a_summary_is_short() {
        let text = "One two three four five six seven eight nine.";
        assert_eq!(words(text, 1), "One two three four five six seven eight … (in the words of call 1)");
        assert_ne!(words(text, 1), words(text, 2));
        assert!(words(&"x".repeat(5000), 1).chars().count() < 150);
    }
}
