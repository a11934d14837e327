//! `idempotency`: see the whole toolkit work, run it locally, invoke a function. `idempotency --help` says how.

use std::{env, process::ExitCode};

use clap::{Parser, error::ErrorKind};
use idempotency_cli::cli::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error),
    };
    match cli.run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", error.in_one_line());
            ExitCode::FAILURE
        }
    }
}

/// Tells what is wrong with the command line; in one line of JSON where JSON was asked for. 2, as everywhere.
fn not_understood(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_help || !env::args_os().any(|argument| argument == "--json") {
        error.exit();
    }
    let text = error.render().to_string();
    let paragraphs = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let line = paragraphs.split_whitespace().collect::<Vec<_>>().join(" ");
    eprintln!("{}", serde_json::json!({ "error": line, "exit": 2 }));
    ExitCode::from(2)
}
