//! `idempotency local`.

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::{
    CliError, RelayOptions, Stack,
    cli::Local,
    guide::{addresses, guide, is_relayed},
};

/// Runs the stack until it is told to stop.
pub(crate) async fn run(arguments: Local) -> Result<ExitCode, CliError> {
    // Before anything is started, so that no signal finds it half set up.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stack = Stack::start(arguments.options()?).await?;
    let relay = match is_relayed(&stack) {
        true => Some(stack.relay(RelayOptions::default()).await?),
        false => None,
    };
    if arguments.json {
        println!("{}", addresses(&stack));
    } else {
        print!("{}", guide(&stack));
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    if let Some(relay) = relay {
        relay.stop().await;
    }
    stack.stop().await;
    Ok(ExitCode::SUCCESS)
}
