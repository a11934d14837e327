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
    /// It is not JSON, or a field has the wrong type.
    #[error("the result is not a payload format 2.0 response")]
    Malformed(#[from] serde_json::Error),
    /// The status code, a header name or a header value is not valid in HTTP.
    #[error("the response is not valid http")]
    NotHttp(#[from] http::Error),
    /// The body says that it is base64 and is not.
    #[error("the body is not base64")]
    NotBase64(#[from] base64::DecodeError),
}
