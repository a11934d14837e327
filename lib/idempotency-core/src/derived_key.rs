//! Keys that are computed from what a request is about, where no caller mints one.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{IdempotencyKey, KeyPart, KeyPartError, Operation, hash::PartsHasher, key_part::NamedParts};

/// Collects the parts of a derived key; [`IdempotencyKey::derived`] starts one, [`key!`](crate::key) is a short form of it.
#[derive(Clone, Debug)]
#[must_use = "a builder is no key until it is finished"]
pub struct KeyBuilder {
    operation: Operation,
    parts: NamedParts,
}

impl IdempotencyKey {
    /// Starts a key that is derived from what a request is about: a business key, for queues, events and calls that carry no
    /// `Idempotency-Key`.
    ///
    /// The same operation (name, version and route) and the same parts (name and value each) give the same key, on every
    /// machine and in every release; anything else gives another one. The order of parts does not count, their names do: keep
    /// a part's name when you rename the variable behind it. [`KeyPart`] says what may be a part.
    ///
    /// A key has 43 characters out of letters, digits, `-` and `_`, whatever its parts, so it fits wherever a
    /// caller's key does: HTTP header, SQS message attribute, FIFO deduplication id (128), execution name of Step Functions
    /// (80). It does not show its parts; whoever can guess them can compute it.
    ///
    /// The tenant is not in it. Records are kept apart by [`Scope`](crate::Scope); if you pass the key on to a callee that all
    /// tenants share, make the tenant a part.
    ///
    /// ```
    /// use idempotency_core::{IdempotencyKey, KeyPartError, Operation};
    ///
    /// const CHARGE: Operation = Operation::declare("create-charge", 1);
    ///
    /// # fn main() -> Result<(), KeyPartError> {
    /// let key = IdempotencyKey::derived(&CHARGE).part("user_id", &7).part("invoice_id", "INV-42").finish()?;
    /// assert_eq!(key.as_str().len(), 43);
    ///
    /// let nobody: Option<u64> = None;
    /// let refused = IdempotencyKey::derived(&CHARGE).part("user_id", &nobody).part("invoice_id", "INV-42").finish();
    /// assert_eq!(refused, Err(KeyPartError::Missing { part: "user_id".into() }));
    /// # Ok(()) }
    /// ```
    pub fn derived(operation: &Operation) -> KeyBuilder {
        KeyBuilder { operation: operation.clone(), parts: NamedParts::new() }
    }
}

impl KeyBuilder {
    /// Adds a part. What is wrong with it is told by [`finish`](Self::finish).
    pub fn part(self, name: &str, part: &(impl KeyPart + ?Sized)) -> Self {
        // `key!` takes the name from the code, where a word of the language has a mark.
        let name = name.strip_prefix("r#").unwrap_or(name);
        Self { parts: self.parts.with(name, part), ..self }
    }

    /// The key of all parts.
    ///
    /// # Errors
    ///
    /// [`KeyPartError`], about the first part that has no value or a name that was there before, or because there are no
    /// parts.
    pub fn finish(self) -> Result<IdempotencyKey, KeyPartError> {
        let start = PartsHasher::new("idempotency-derived-key-v1")
            .part(self.operation.name().as_bytes())
            .part(&self.operation.version().to_be_bytes())
            .optional(self.operation.route());
        Ok(IdempotencyKey::from_hash(URL_SAFE_NO_PAD.encode(self.parts.hash(start)?)))
    }
}

/// A key derived from what a request is about: `key!(OPERATION; part, name = expression, …)`.
///
/// The operation comes first and is mandatory; its name and version are in the key. A part is a variable, which gives it its
/// name, or a name and an expression (also for a constant: `region = REGION`). The result is a `Result<IdempotencyKey, KeyPartError>`;
/// [`IdempotencyKey::derived`](crate::IdempotencyKey::derived) says what is promised of the key, [`KeyPart`](crate::KeyPart)
/// what may be a part.
///
/// ```
/// use idempotency_core::{KeyPartError, Operation, key};
///
/// const CHARGE: Operation = Operation::declare("create-charge", 1);
///
/// # fn main() -> Result<(), KeyPartError> {
/// # let (user_id, invoice_id) = (7_u64, "INV-42"); struct Invoice { cents: u64 } let invoice = Invoice { cents: 1200 };
/// let key = key!(CHARGE; user_id, invoice_id, amount = invoice.cents)?;
/// # assert_eq!(key, key!(CHARGE; amount = invoice.cents, invoice_id, user_id)?);
/// # Ok(()) }
/// ```
///
/// Without a part there is no key:
///
/// ```compile_fail
/// # use idempotency_core::{Operation, key};
/// # const CHARGE: Operation = Operation::declare("create-charge", 1);
/// let everyones = key!(CHARGE;);
/// ```
#[macro_export]
macro_rules! key {
    ($operation:expr; $($name:tt $(= $value:expr)?),+ $(,)?) => {
        $crate::__with_parts!($crate::IdempotencyKey::derived(&$operation); $($name $(= $value)?),+)
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write the operation, a semicolon, and at least one part, each a variable or a name and an expression: \
             `key!(CHARGE; user_id, amount = invoice.cents)`"
        )
    };
}

/// Adds parts to a builder and finishes it.
///
/// A part is bound to its own name and converted, before it is passed on, so that the compiler's complaint about its type points
/// at that name and not at the macro. (A name is matched as `tt`, which keeps its place in the caller's code; `ident` does not.)
#[doc(hidden)]
#[macro_export]
macro_rules! __with_parts {
    ($builder:expr; $($name:tt $(= $value:expr)?),+) => {{
        let builder = $builder;
        $(let builder = {
            let $name = $crate::__part!($name $(= $value)?);
            let part: &dyn $crate::KeyPart = $name;
            builder.part(::core::stringify!($name), part)
        };)+
        builder.finish()
    }};
}

/// A reference to a part's value: the expression, or the variable of its name.
#[doc(hidden)]
#[macro_export]
macro_rules! __part {
    ($name:tt) => {
        &$name
    };
    ($name:tt = $value:expr) => {
        &$value
    };
}

#[cfg(test)]
mod tests;
