//! What can go wrong with an operator command, and the exit codes that say so.

use std::{error::Error, io, process::ExitCode};

use idempotency_core::StoreError;

/// How an operator command ended. The numbers are a promise to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was done, and nothing is wrong.
    Fine = 0,
    /// It was looked for and not found, or found to be wrong; or the condition for what was asked is not met, and nothing was changed.
    Found = 1,
    /// What was asked is not understood, or something is missing that only the user can say.
    Usage = 2,
    /// AWS could not be reached, or refused: no credentials, no permission, no such table.
    Aws = 3,
}

/// The exit codes, for `--help`.
pub(crate) const CODES: &str = "\
Exit codes:
  0  done, and nothing is wrong
  1  not found, something is wrong, or the condition for it is not met (nothing was changed)
  2  the command line is not understood, or something is missing that only you can say
  3  AWS could not be reached or refused: credentials, permissions, the table's name";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why an operator command could not do what was asked. Each is told in one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperateError {
    /// Something is missing or contradicts something else.
    #[error("{0}")]
    Usage(String),
    /// The condition for what was asked is not met. Nothing was changed.
    #[error("{0}")]
    NotMet(String),
    /// The table cannot be read or written.
    #[error("{what}")]
    Table {
        /// What was tried.
        what: &'static str,
        /// What came back.
        source: StoreError,
    },
    /// The table is one of something else.
    #[error("{table} is no table of records: its keys are {keys}, not pk and sk; say another with --table")]
    NotATable {
        /// Its name.
        table: String,
        /// Its keys.
        keys: String,
    },
    /// There are no credentials.
    #[error(
        "there are no AWS credentials{profile}: set AWS_PROFILE or --profile to one of `aws configure`, or say `eval \"$(aws configure \
         export-credentials --format env)\"`"
    )]
    NoCredentials {
        /// Where they were looked for, if that was said.
        profile: String,
        /// What came back.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Whoever read the output has gone away.
    #[error("nobody reads the output any more")]
    ReaderGone,
    /// Another service did not answer.
    #[error("{what}")]
    Aws {
        /// What was tried.
        what: &'static str,
        /// What came back.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Output cannot be written, or a file cannot be read.
    #[error("{what}")]
    Io {
        /// What was tried.
        what: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl OperateError {
    pub(crate) fn usage(text: impl ToString) -> Self {
        Self::Usage(text.to_string())
    }

    pub(crate) fn table(what: &'static str) -> impl Fn(StoreError) -> Self {
        move |source| Self::Table { what, source }
    }

    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::NotMet(_)
            | Self::Io { .. }
            | Self::ReaderGone
            | Self::Table { source: StoreError::Undecodable(_), .. } => Exit::Found,
            Self::Table { .. } | Self::NotATable { .. } | Self::NoCredentials { .. } | Self::Aws { .. } => Exit::Aws,
        }
    }
}
