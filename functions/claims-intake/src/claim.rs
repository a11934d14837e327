//! A claim, as its sender puts it into the queue.

use serde::Deserialize;

/// A claim to take in. Anything else in the message is refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) tenant: Name,
    pub(crate) claim_id: Name,
    /// The text of the claim.
    pub(crate) document: String,
}

/// A tenant's or claim's id: 1 to 64 letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        match plain && (1..=64).contains(&name.len()) {
            true => Ok(Self(name)),
            false => Err("must be 1 to 64 letters, digits, '.', '_' and '-'"),
        }
    }
}
