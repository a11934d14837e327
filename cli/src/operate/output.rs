//! What is printed.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use serde_json::Value;

use super::error::OperateError;

/// Prints a line of text. What is stored may have been written by anybody: control characters are shown and not sent to the terminal.
///
/// A reader that has gone away, such as `head`, ends the command.
pub(crate) fn line(text: impl AsRef<str>) -> Result<(), OperateError> {
    raw(&visible(text.as_ref()))
}

/// What was done stays done, whether or not that can be printed: no error says otherwise.
pub(crate) fn told(printed: Result<(), OperateError>) {
    if let Err(error @ OperateError::Io { .. }) = printed {
        eprintln!("warning: it was done, and {}", crate::error::in_one_line(&error));
    }
}

fn raw(line: &str) -> Result<(), OperateError> {
    writeln!(io::stdout().lock(), "{line}").map_err(|source| match source.kind() {
        io::ErrorKind::BrokenPipe => OperateError::ReaderGone,
        _ => OperateError::Io { what: "the output cannot be written".into(), source },
    })
}

fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let show = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(show).collect::<String>().into()
}

/// Prints JSON on one line.
pub(crate) fn json(value: &Value) -> Result<(), OperateError> {
    raw(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_has_written_cannot_move_the_cursor_or_begin_a_line() {
        assert_eq!(visible("said\n2026 forged \u{1b}[2Kx\u{9b}"), "said\\n2026 forged \\u{1b}[2Kx\\u{9b}");
        assert_eq!(visible("straße"), "straße");
    }
}
