//! `idempotency`: see the whole toolkit work, run it locally, invoke a function. `idempotency --help` says how.

use std::process::ExitCode;

use clap::Parser;
use idempotency_cli::cli::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    match Cli::parse().run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", error.in_one_line());
            ExitCode::FAILURE
        }
    }
}
