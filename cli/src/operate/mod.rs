//! Operator commands: find, explain and repair what stands in a table of records.

mod connection;
mod deed;
mod doctor;
mod error;
mod estimate;
mod evict;
mod explain;
mod form;
mod identity;
mod inspect;
mod list;
mod output;
mod resolve;
mod response;
mod rows;
mod server_clock;
mod stored_result;
mod time;
mod watch;

use std::{error::Error, process::ExitCode};

use clap::Subcommand;
use serde_json::json;

pub(crate) use self::error::CODES;
pub use self::error::OperateError;
pub(crate) use self::explain::{State, operation};
pub(crate) use self::rows::Beside;
use self::{
    doctor::Doctor, error::Exit, estimate::Estimate, evict::Evict, inspect::Inspect, list::List, resolve::Resolve,
    watch::Watch,
};

/// The commands that work on a table which functions use, here or at AWS.
#[derive(Debug, Subcommand)]
pub(crate) enum Operate {
    /// Find one record, by the operation, tenant and key of its request or by its partition key, and explain it in words.
    ///
    /// Stored results are only printed when asked for. Exits with 1 if there is no such record.
    #[command(after_help = CODES)]
    Inspect(Inspect),
    /// List records by the state that they are in: those that wait for somebody, if nothing is said.
    ///
    /// Reads the whole table, in segments, and says what that cost. Exits with 1 if a listed record waits for somebody.
    #[command(after_help = CODES)]
    List(List),
    #[command(after_help = CODES)]
    Resolve(Resolve),
    #[command(after_help = CODES)]
    Evict(Evict),
    #[command(after_help = CODES)]
    Doctor(Doctor),
    #[command(after_help = CODES)]
    Estimate(Estimate),
    #[command(after_help = CODES)]
    Watch(Watch),
}

impl Operate {
    /// Runs the command, and tells its mistakes.
    pub(crate) async fn run(self) -> ExitCode {
        let json = self.is_json();
        let ended = match self {
            Self::Inspect(command) => command.run().await,
            Self::List(command) => command.run().await,
            Self::Resolve(command) => command.run().await,
            Self::Evict(command) => command.run().await,
            Self::Doctor(command) => command.run().await,
            Self::Estimate(command) => command.run(),
            Self::Watch(command) => command.run().await,
        };
        ended.unwrap_or_else(|error| tell(&error, json)).into()
    }

    /// Whether it goes on until it is stopped.
    pub(crate) const fn is_endless(&self) -> bool {
        matches!(self, Self::Watch(_))
    }

    const fn is_json(&self) -> bool {
        match self {
            Self::Inspect(command) => command.connection.json,
            Self::List(command) => command.connection.json,
            Self::Resolve(command) => command.connection.json,
            Self::Evict(command) => command.connection.json,
            Self::Doctor(command) => command.connection.json,
            Self::Estimate(command) => command.json,
            Self::Watch(command) => command.connection.json,
        }
    }
}

fn tell(error: &OperateError, json: bool) -> Exit {
    let exit = error.exit();
    if matches!(error, OperateError::ReaderGone) {
        return exit;
    }
    let line = crate::error::in_one_line(error as &dyn Error);
    match json {
        true => eprintln!("{}", json!({ "error": line, "exit": exit as u8 })),
        false => eprintln!("error: {line}"),
    }
    exit
}
