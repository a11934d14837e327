//! Random identities: the owner token of a claim and the generation of a key.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// 128 random bits that say whose claim a record is.
///
/// A new one is drawn for every claim call. It is never the Lambda request id, which retries of one event share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerToken([u8; 16]);

/// 128 random bits that name a generation of a key: the same across takeovers and releases, new after expiry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId([u8; 16]);

macro_rules! random_identity {
    ($name:ident) => {
        impl $name {
            /// The identity with these bits.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The bits.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

random_identity!(OwnerToken);
random_identity!(ExecutionId);

/// The operating system gave no randomness, so no claim can be made.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random bits for an owner token")]
pub struct TokenError(#[from] getrandom::Error);

/// A source of 128-bit identities.
pub trait TokenSource: Send + Sync + 'static {
    /// 128 fresh bits, never drawn before.
    ///
    /// # Errors
    ///
    /// When no randomness is available. The claim is then refused; nothing runs.
    fn draw(&self) -> Result<[u8; 16], TokenError>;
}

/// Bits from the operating system's secure generator.
///
/// They are read anew for every token, so that sandboxes restored from one SnapStart snapshot never share any.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomTokens;

impl TokenSource for RandomTokens {
    fn draw(&self) -> Result<[u8; 16], TokenError> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        Ok(bits)
    }
}
