use crate::BindError;

/// The HTTP front could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpFrontError {
    /// The address could not be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// A function's result is not an HTTP response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// It is not JSON, a field has the wrong type, or one that must be there is missing.
    #[error("the result is not the response that this kind of front asks for")]
    Malformed(#[from] serde_json::Error),
    /// The status code, a header name or a header value is not valid in HTTP.
    #[error("the response is not valid http")]
    NotHttp(#[from] http::Error),
    /// The body says that it is base64 and is not.
    #[error("the body is not base64")]
    NotBase64(#[from] base64::DecodeError),
    /// The result is larger than the front takes.
    #[error("a result of {size} bytes is over the front's limit of {limit} bytes")]
    TooLarge {
        /// Its size.
        size: usize,
        /// The limit it is over.
        limit: usize,
    },
}
