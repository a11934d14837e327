//! `idempotency invoke`.

use std::{io::Read, path::Path, process::ExitCode};

use serde_json::Value;

use crate::{CliError, Stack, cli::Invoke};

/// Invokes one function with one event and prints what it answers.
pub(crate) async fn run(arguments: Invoke, event: Value) -> Result<ExitCode, CliError> {
    let stack = Stack::start(arguments.options()).await?;
    let invoked = stack.function().invoke(event.to_string()).await;
    stack.stop().await;
    let response = invoked.map_err(|source| CliError::Invoke { function: arguments.function.clone(), source })?;
    match serde_json::from_slice::<Value>(&response) {
        Ok(response) => println!("{response:#}"),
        // A function may answer anything; it is shown as it is.
        Err(_) => println!("{}", String::from_utf8_lossy(&response)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the event: before anything is built or started, which takes longer than to see that it is not there.
pub(crate) fn read_event(path: &Path) -> Result<Value, CliError> {
    let text = if path == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map(|_| text)
    } else {
        std::fs::read(path)
    };
    let text = text.map_err(|source| CliError::ReadEvent { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|source| CliError::EventNotJson { path: path.to_owned(), source })
}
