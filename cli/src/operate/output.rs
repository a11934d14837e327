//! What is printed.

use std::io::{self, Write};

use serde_json::Value;

use super::error::OperateError;

/// Prints a line. A reader that has gone away, such as `head`, is no error.
pub(crate) fn line(text: impl AsRef<str>) -> Result<(), OperateError> {
    match writeln!(io::stdout().lock(), "{}", text.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| OperateError::Io { what: "the output cannot be written".into(), source }),
    }
}

/// Prints JSON on one line.
pub(crate) fn json(value: &Value) -> Result<(), OperateError> {
    line(value.to_string())
}
