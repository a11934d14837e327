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
    /// What the tests of the fronts have received.
    #[cfg(test)]
    pub(super) fn sample() -> Self {
        Self {
            source_ip: [192, 0, 2, 1].into(),
            at: Duration::from_millis(1_583_348_638_390),
            request_id: "id-1".to_owned(),
        }
    }

    /// The `x-amzn-trace-id` header ("Configuring AWS X-Ray", "Tracing header"): seconds and 96 bits, in hexadecimal.
    pub(super) fn trace_id(&self) -> String {
        let digits = self.request_id.chars().filter(char::is_ascii_hexdigit);
        let unique: String = digits.chain(std::iter::repeat('0')).take(24).collect();
        format!("Root=1-{:08x}-{unique}", self.at.as_secs())
    }
}
