use std::net::IpAddr;
use std::time::Duration;

/// What a front knows about a request apart from the request itself.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The client's address.
    pub source_ip: IpAddr,
    /// When the request came, since the Unix epoch.
    pub at: Duration,
    /// A unique id.
    pub request_id: String,
}

impl ReceivedRequest {
    /// The `x-amzn-trace-id` header ("Configuring AWS X-Ray", "Tracing header"): seconds and 96 bits, in hexadecimal.
    pub(super) fn trace_id(&self) -> String {
        let digits = self.request_id.chars().filter(char::is_ascii_hexdigit);
        let unique: String = digits.chain(std::iter::repeat('0')).take(24).collect();
        format!("Root=1-{:08x}-{unique}", self.at.as_secs())
    }
}
