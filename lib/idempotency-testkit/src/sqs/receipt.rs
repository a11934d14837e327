use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::SqsError;

/// A receipt handle: it names one receive of a message, not the message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receipt(String);

impl Receipt {
    /// The handle of a queue's `serial`-th delivery.
    pub(super) fn issue(queue: &str, message_id: &str, serial: u64) -> Self {
        Self(URL_SAFE_NO_PAD.encode(format!("{queue}/{message_id}/{serial}")))
    }

    /// A handle that came from outside.
    pub(super) fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As it goes over the wire. Opaque, as in AWS.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The message id and the delivery's number, if the handle is one of this queue.
    pub(super) fn read(&self, queue: &str) -> Result<(String, u64), SqsError> {
        let decoded = URL_SAFE_NO_PAD.decode(&self.0).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let decoded = decoded.ok_or(SqsError::InvalidReceipt)?;
        let mut parts = decoded.split('/');
        match (parts.next(), parts.next(), parts.next().map(str::parse), parts.next()) {
            (Some(name), Some(id), Some(Ok(serial)), None) if name == queue => Ok((id.to_owned(), serial)),
            _ => Err(SqsError::InvalidReceipt),
        }
    }
}

impl std::fmt::Display for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
