//! The account that everything local pretends to belong to.

/// DynamoDB Local without `-sharedDb` keeps separate tables per region and access key, so the
/// testkit's client and the functions it starts must use the same pair. The key is letters and
/// digits only because DynamoDB Local 2 rejects anything else.
pub(crate) const REGION: &str = "us-east-1";
pub(crate) const ACCESS_KEY_ID: &str = "LOCALTESTKIT";
pub(crate) const SECRET_ACCESS_KEY: &str = "local";

/// The example account of the AWS documentation.
pub(crate) const ACCOUNT_ID: &str = "123456789012";

/// Any port of the loopback interface: nothing of the testkit is reachable from another machine.
pub(crate) const ANY_PORT: std::net::SocketAddr =
    std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
