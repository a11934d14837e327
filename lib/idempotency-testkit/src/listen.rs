//! Binding a listener, with an error that names the address.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;

/// A server could not listen on the address it was given.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {}", reason(.source))]
pub struct BindError {
    /// The address that was asked for.
    pub address: SocketAddr,
    /// What the operating system said.
    pub source: io::Error,
}

fn reason(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another process uses this port",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::AddrNotAvailable => "this machine does not have that address",
        _ => "the operating system refused",
    }
}

/// Binds `address` and says which address it became (port 0 picks a free one).
pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), BindError> {
    let named = |source| BindError { address, source };
    let listener = TcpListener::bind(address).await.map_err(named)?;
    let bound = listener.local_addr().map_err(named)?;
    Ok((listener, bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::ANY_PORT;

    #[tokio::test]
    async fn a_port_in_use_is_named() {
        let (_listener, address) = bind(ANY_PORT).await.unwrap();

        let error = bind(address).await.unwrap_err();

        assert_eq!(error.to_string(), format!("cannot listen on {address}: another process uses this port"));
        assert_eq!(error.source.kind(), io::ErrorKind::AddrInUse);
    }
}
