//! The local web page: what the function is asked and what becomes of it, the table's records, and buttons that make trouble.
//!
//! Where the timeline comes from: the host of the function, which every trigger ends at. It tells of every invocation and of its answer
//! ([`FunctionEvent`]), and hands on the lines that the function logs. What an HTTP caller got is read from the answer, which is what a
//! caller goes by. What became of each message of a batch is in no answer, so it is read from the line that the toolkit logs once a claim
//! (`outcome=…`), by the request id in it. The store's requests would say less: a replay and a conflict are the same refused write there.

mod claim_line;
mod deeds;
mod entry;
mod guard;
mod outcome;
mod routes;
mod rows;
mod store_request;
mod timeline;

use std::{io, net::SocketAddr, sync::Arc};

use idempotency_testkit::{BindError, lambda::FunctionEvent};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

use self::{deeds::Deeds, guard::Guard, timeline::Timeline};
use crate::{CliError, Stack};

/// The page. Dropping it closes its port.
#[derive(Debug)]
pub(crate) struct Page {
    url: String,
    tasks: [JoinHandle<()>; 2],
}

/// What the page's requests share.
struct Shared {
    deeds: Deeds,
    timeline: Timeline,
    guard: Guard,
}

impl Page {
    /// Serves the page of a stack on a loopback address. `events` is where the stack's function is observed.
    pub(crate) async fn start(
        address: SocketAddr,
        stack: &Stack,
        events: mpsc::UnboundedReceiver<FunctionEvent>,
    ) -> Result<Self, CliError> {
        let bind = async {
            let listener = TcpListener::bind(address).await?;
            let bound = listener.local_addr()?;
            Ok((listener, bound))
        };
        let (listener, bound) = bind.await.map_err(|source: io::Error| BindError { address, source })?;
        let timeline = Timeline::new(stack.trigger());
        let shared = Arc::new(Shared {
            deeds: Deeds::of(stack, timeline.clone()),
            timeline: timeline.clone(),
            guard: Guard::new(bound)?,
        });
        let app = routes::router(shared);
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        let reader = tokio::spawn(timeline.follow(events));
        Ok(Self { url: format!("http://{bound}/"), tasks: [server, reader] })
    }

    /// Where a browser opens it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
