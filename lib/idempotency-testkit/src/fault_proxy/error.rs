use crate::BindError;

/// A proxy could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultProxyError {
    /// The loopback listener could not be opened.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The upstream is not a URL.
    #[error("upstream `{url}` is not a url")]
    NotAUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        source: http::uri::InvalidUri,
    },
    /// The upstream is not a plain-HTTP origin such as `http://127.0.0.1:8000`.
    #[error("upstream `{url}` is not of the form http://host:port (the proxy does not speak tls)")]
    NotPlainHttp {
        /// What was given.
        url: String,
    },
}
