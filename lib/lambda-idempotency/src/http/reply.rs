//! A response that is delivered as it is.

use std::{
    future::ready,
    ops::{Deref, DerefMut},
};

use lambda_http::{Body, IntoResponse, Response};

/// A response that is delivered as it is.
///
/// `lambda_http` converts what a handler returns: text to UTF-8, other bytes to base64, by the content type. The wrapper does
/// that once, before it stores the response, so that the first delivery and every replay are the same bytes. A plain
/// `Response<Body>` would be converted a second time on its way out, which damages text in another charset and bytes
/// without a type; this type is not.
///
/// It dereferences to the response.
#[derive(Debug)]
pub struct Reply(Response<Body>);

impl Reply {
    /// The response.
    pub fn into_inner(self) -> Response<Body> {
        self.0
    }

    /// Converts what a handler returned, once.
    pub(super) async fn converted(returned: impl IntoResponse) -> Self {
        Self(returned.into_response().await)
    }
}

/// Takes a response that needs no conversion: its body is text in UTF-8, or bytes.
impl From<Response<Body>> for Reply {
    fn from(response: Response<Body>) -> Self {
        Self(response)
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> std::pin::Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        Box::pin(ready(self.0))
    }
}

impl Deref for Reply {
    type Target = Response<Body>;

    fn deref(&self) -> &Response<Body> {
        &self.0
    }
}

impl DerefMut for Reply {
    fn deref_mut(&mut self) -> &mut Response<Body> {
        &mut self.0
    }
}
