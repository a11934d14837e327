//! Logs that cannot fail a request.

use std::io::{self, Write, stdout};

/// Sets up logs as `lambda_http::tracing::init_default_subscriber` does, with Lambda's own settings of level and format, except that a
/// line that cannot be written is lost and nothing more. (The subscriber would complain to the standard error, and where that fails
/// too, panic in the middle of a request.)
///
/// Call it first in `main`.
///
/// # Panics
///
/// Where the process has a subscriber already.
pub fn init_logs() {
    lambda_http::tracing::init_default_subscriber_with_writer(|| Lossy(stdout()));
}

/// A writer whose errors nobody hears of.
struct Lossy<W>(W);

impl<W: Write> Write for Lossy<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}
