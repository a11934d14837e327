use std::error::Error;
use std::sync::{Arc, Mutex};

use http::uri::{Authority, Scheme, Uri};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::carry::{Shared, Unanswered};
use super::log::RequestLog;
use super::{FaultProxyError, RecordedRequest, Rule};
use crate::listen::bind;
use crate::local::ANY_PORT;
use crate::locked::lock;
use crate::server_task::{ServerTask, StopSignal};

/// The proxy. See the [module's documentation](super) for what it is for.
///
/// Dropping it closes every connection and forgets what it still holds.
#[derive(Debug)]
pub struct FaultProxy {
    endpoint_url: String,
    shared: Arc<Shared>,
    // Requests are carried by tasks of their own; dropping this ends them.
    alive: watch::Sender<()>,
    server: ServerTask,
}

/// A handle to a proxy's rules, for whoever does not own it. When the proxy has gone it does nothing. Clones are the same.
#[derive(Debug, Clone)]
pub struct Rules(Arc<Shared>);

impl Rules {
    /// Adds a rule behind the ones that are there.
    pub fn inject(&self, rule: Rule) {
        lock(&self.0.rules).push(rule);
    }
}

impl FaultProxy {
    /// Starts a proxy in front of `upstream`, such as [`crate::dynamodb::EmbeddedDynamoDb::endpoint_url`].
    ///
    /// Must run inside a Tokio runtime, which then also serves it. Dropping the future before it
    /// completes starts nothing.
    ///
    /// # Errors
    ///
    /// When `upstream` is not of the form `http://host:port`, or there is no loopback port left.
    pub async fn start(upstream: impl AsRef<str>) -> Result<Self, FaultProxyError> {
        let upstream = origin(upstream.as_ref())?;
        let (listener, address) = bind(ANY_PORT).await?;
        let shared = Arc::new(Shared {
            upstream,
            client: Client::builder(TokioExecutor::new()).build(connector()),
            rules: Mutex::default(),
            log: RequestLog::default(),
        });
        let (alive, life) = watch::channel(());
        let server = ServerTask::spawn({
            let shared = Arc::clone(&shared);
            |stop| accept(listener, shared, life, stop)
        });
        Ok(Self { endpoint_url: format!("http://{address}"), shared, alive, server })
    }

    /// The URL to give to the code under test instead of DynamoDB's.
    #[must_use]
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }

    /// Adds a rule behind the ones that are there.
    pub fn inject(&self, rule: Rule) {
        self.rules().inject(rule);
    }

    /// A handle for whoever is to add rules and does not own the proxy.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules(Arc::clone(&self.shared))
    }

    /// Removes all rules. Requests that a rule already holds stay held.
    pub fn clear_rules(&self) {
        lock(&self.shared.rules).clear();
    }

    /// Keeps so many of the newest requests from now on, with their bodies. Without this all are kept, which suits a test and no proxy that
    /// runs for days.
    pub fn keep_requests(&self, newest: usize) {
        self.shared.log.keep(newest);
    }

    /// The requests so far, in arrival order.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.log.all()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.shared.log.clear();
    }

    /// Closes the port and every connection, and gives up on requests that are still held.
    ///
    /// Dropping the future early does the same without waiting for the port to close.
    pub async fn stop(self) {
        drop(self.alive);
        self.server.stop().await;
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    // Without it, a body that takes a second packet waits for a delayed acknowledgement (40 ms on Linux).
    connector.set_nodelay(true);
    connector
}

fn origin(url: &str) -> Result<Authority, FaultProxyError> {
    let uri: Uri = url.parse().map_err(|source| FaultProxyError::NotAUrl { url: url.to_owned(), source })?;
    let plain = uri.scheme() == Some(&Scheme::HTTP) && uri.path() == "/" && uri.query().is_none();
    let authority = uri.authority().filter(|_| plain);
    authority.cloned().ok_or_else(|| FaultProxyError::NotPlainHttp { url: url.to_owned() })
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, life: watch::Receiver<()>, stop: StopSignal) {
    // Dropping the set, when the proxy stops, aborts the connections in it.
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop.wait());
    loop {
        tokio::select! {
            () = &mut stop => return,
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, Arc::clone(&shared), life.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>, life: watch::Receiver<()>) {
    // Without it, small answers wait for the client's delayed acknowledgement (40 ms on Linux).
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| answer(request, Arc::clone(&shared), life.clone()));
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // An error here is the client's disconnection or our own `Unanswered`: the connection ends.
    let Err(error) = (&mut connection).await else { return };
    if error.source().and_then(|source| source.downcast_ref()) == Some(&Unanswered::Reset) {
        // The operating system then discards the connection instead of closing it.
        let _ = connection.into_parts().io.into_inner().set_zero_linger();
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    mut life: watch::Receiver<()>,
) -> Result<Response<Full<Bytes>>, Unanswered> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Unanswered::Closed)?.to_bytes();
    // A task of its own: hyper drops this future when the client disconnects, but a request that has
    // arrived goes on, as it would on its way through a network.
    let carried = tokio::spawn(async move {
        tokio::select! {
            answer = shared.carry(parts, body) => answer,
            _ = life.changed() => Err(Unanswered::Closed),
        }
    });
    carried.await.unwrap_or(Err(Unanswered::Closed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upstream_is_a_plain_http_origin() {
        assert_eq!(origin("http://127.0.0.1:8000").unwrap(), "127.0.0.1:8000");
        assert_eq!(origin("http://localhost:8000/").unwrap(), "localhost:8000");
        for url in ["https://dynamodb.us-east-1.amazonaws.com", "127.0.0.1:8000", "http://localhost/path"] {
            assert!(matches!(origin(url), Err(FaultProxyError::NotPlainHttp { .. })), "{url}");
        }
        assert!(matches!(origin("not a url"), Err(FaultProxyError::NotAUrl { .. })));
    }
}
