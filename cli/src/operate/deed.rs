//! What commands that change a record have in common: who, why, and whether it is meant.

use std::io::{IsTerminal, Write};

use clap::Args;
use idempotency_core::{EpochMillis, OwnerToken, RandomTokens, Record, StoreError, TokenSource, Window};
use idempotency_dynamodb::AuditEntry;

use super::{connection::Connection, error::OperateError};

/// Who does it, why, and whether it is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Deed {
    /// Why, in a few words. It is kept with the change for a year, and `inspect` shows it.
    #[arg(long, value_name = "TEXT", help_heading = "The word about it")]
    reason: String,

    /// Who you are. [default: the ARN that STS tells of the credentials]
    #[arg(long, value_name = "NAME", help_heading = "The word about it")]
    by: Option<String>,

    /// Do it without asking. Needed where nobody can be asked: in scripts.
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,

    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Deed {
    /// The entry that will tell of it.
    pub(crate) async fn audit(
        &self,
        connection: &Connection,
        found: &Record,
        action: &str,
        now: EpochMillis,
    ) -> Result<AuditEntry, OperateError> {
        if self.reason.trim().is_empty() {
            return Err(OperateError::usage("say why, with --reason"));
        }
        if [Some(&self.reason), self.by.as_ref()].into_iter().flatten().any(|text| text.contains(char::is_control)) {
            return Err(OperateError::usage("--reason and --by are one line each, of letters that can be seen"));
        }
        let by = self.who(connection).await?;
        let entry = AuditEntry::of(found, now, draw()?, action, &by, self.reason.trim());
        // It is kept when the record is gone: for as long as any record is.
        let expires_at = (now + Window::MAX_STORAGE_TTL).ceil_seconds().max(found.expires_at);
        Ok(AuditEntry { expires_at, ..entry })
    }

    async fn who(&self, connection: &Connection) -> Result<String, OperateError> {
        if let Some(by) = self.by.as_ref().filter(|by| !by.trim().is_empty()) {
            return Ok(by.trim().to_owned());
        }
        let sdk = connection.sdk().await?;
        if connection.is_local() && std::env::var_os("AWS_ENDPOINT_URL_STS").is_none() {
            return Err(OperateError::usage(
                "the DynamoDB is on this machine, where nobody knows who you are: say --by NAME",
            ));
        }
        let identity = aws_sdk_sts::Client::new(&sdk).get_caller_identity().send().await;
        let identity = identity.map_err(|error| OperateError::Aws {
            what: "STS does not tell who you are; say --by NAME",
            source: aws_sdk_sts::error::DisplayErrorContext(error).to_string().into(),
        })?;
        identity.arn.ok_or_else(|| OperateError::usage("STS does not tell who you are: say --by NAME"))
    }

    /// Asks whether it is meant, where that was not said.
    pub(crate) fn confirm(&self, json: bool) -> Result<(), OperateError> {
        if self.yes {
            return Ok(());
        }
        if json || !std::io::stdin().is_terminal() {
            return Err(OperateError::usage(
                "nothing was changed: say --yes to do it, or --dry-run to see what it would do",
            ));
        }
        eprint!("Do it? Type yes: ");
        let mut answer = String::new();
        let _ = std::io::stderr().flush();
        let read = std::io::stdin().read_line(&mut answer);
        match read.is_ok() && answer.trim() == "yes" {
            true => Ok(()),
            false => Err(OperateError::NotMet("nothing was changed".into())),
        }
    }
}

/// 128 fresh bits.
pub(crate) fn draw() -> Result<OwnerToken, OperateError> {
    let drawn = RandomTokens.draw();
    drawn
        .map(OwnerToken::from_bytes)
        .map_err(|error| OperateError::Aws { what: "nothing was changed", source: error.into() })
}

/// Tells what a failed write means.
pub(crate) fn unwritten(source: StoreError) -> OperateError {
    let what = match source {
        StoreError::Unknown(_) => "nobody knows whether it was changed; inspect the record before you try again",
        _ => "nothing was changed",
    };
    OperateError::Table { what, source }
}

/// Tells that the record is another one by now.
pub(crate) fn changed_meanwhile() -> OperateError {
    OperateError::NotMet("the record has changed since it was read, and nothing was written; inspect it again".into())
}
