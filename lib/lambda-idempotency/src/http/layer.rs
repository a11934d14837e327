//! The protocol as a tower layer.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use idempotency_core::{Attempt, Store};
use lambda_http::{Error, IntoResponse, Request};
use tower_layer::Layer;
use tower_service::Service;

use super::{Classify, Failure, HttpOperation, Reply, run};
use crate::{DynamoDbStore, Idempotency};

/// Makes any `lambda_http` service idempotent.
///
/// A layer has no probe: [`OnAbandoned::Probe`](crate::OnAbandoned::Probe) behaves like `Reject` here, and it has nothing that undoes
/// steps. Use [`run_with`](super::run_with()) or the macro for these.
///
/// The service finds its [`Attempt`] among the request's extensions; on methods that need no key there is none.
///
/// ```
/// use lambda_http::{Body, Error, Request, http, service_fn};
/// use lambda_idempotency::{Attempt, Idempotency, Namespace, Operation};
/// use lambda_idempotency::http::{HttpOperation, IdempotencyLayer, scope};
/// use tower::{ServiceBuilder, ServiceExt};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let idempotency = Idempotency::new(idempotency_core::MemoryStore::default(), Namespace::new("dev")?);
/// let operation = HttpOperation::new(Operation::declare("create-order", 1), scope::none());
/// let service = ServiceBuilder::new().layer(IdempotencyLayer::new(idempotency, operation)).service(service_fn(
///     async |request: Request| {
///         let attempt = request.extensions().get::<Attempt>().map_or(0, |attempt| attempt.number().get());
///         Ok::<_, Error>(format!("attempt {attempt}"))
///     },
/// ));
///
/// let request = http::Request::post("/orders").header("idempotency-key", "k-1").body(Body::from("{}"))?;
/// assert_eq!(service.oneshot(request).await?.body().as_ref(), b"attempt 1");
/// # Ok(()) }
/// ```
pub struct IdempotencyLayer<S = DynamoDbStore> {
    shared: Arc<Shared<S>>,
}

/// The service that [`IdempotencyLayer`] makes.
pub struct IdempotencyService<I, S = DynamoDbStore> {
    inner: I,
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    idempotency: Idempotency<S>,
    operation: HttpOperation,
}

impl<S> IdempotencyLayer<S> {
    /// A layer for one operation.
    pub fn new(idempotency: Idempotency<S>, operation: HttpOperation) -> Self {
        Self { shared: Arc::new(Shared { idempotency, operation }) }
    }
}

impl<I, S> Layer<I> for IdempotencyLayer<S> {
    type Service = IdempotencyService<I, S>;

    fn layer(&self, inner: I) -> Self::Service {
        IdempotencyService { inner, shared: Arc::clone(&self.shared) }
    }
}

impl<I, S> Service<Request> for IdempotencyService<I, S>
where
    S: Store,
    I: Service<Request> + Clone + Send + 'static,
    I::Response: IntoResponse + Send,
    I::Error: Classify + Send,
    I::Future: Send,
{
    type Response = Reply;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| match error.classify() {
            Failure::Retryable { source, .. } => source,
            Failure::Permanent(response) => format!("the service failed with status {}", response.status()).into(),
            Failure::Abandoned(error) => error,
        })
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The clone was not polled ready, so the polled one serves this call (tower-service, "Be careful when cloning inner
        // services").
        let clone = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, clone);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let handler = |mut request: Request, attempt: Option<Attempt>| {
                if let Some(attempt) = attempt {
                    request.extensions_mut().insert(attempt);
                }
                ready.call(request)
            };
            run(&shared.idempotency, &shared.operation, request, Ok, handler).await
        })
    }
}

impl<S> Clone for IdempotencyLayer<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<I: Clone, S> Clone for IdempotencyService<I, S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for IdempotencyLayer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyLayer").field("operation", &self.shared.operation).finish_non_exhaustive()
    }
}

impl<I: fmt::Debug, S> fmt::Debug for IdempotencyService<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyService")
            .field("inner", &self.inner)
            .field("operation", &self.shared.operation)
            .finish_non_exhaustive()
    }
}
