use crate::BindError;

/// The provider could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaymentProviderError {
    /// The address could not be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
}
