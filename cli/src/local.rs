//! `idempotency local`.

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::{
    CliError, RelayOptions, Stack,
    cli::Local,
    guide::{addresses, guide},
    ready_made::ReadyMade,
};

/// Runs the stack until it is told to stop.
pub(crate) async fn run(arguments: Local) -> Result<ExitCode, CliError> {
    // Before anything is started, so that no signal finds it half set up.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stack = Stack::start(arguments.options()?).await?;
    let relay = match ReadyMade::find(&arguments.function) {
        Some(function) if function.is_relayed => Some(stack.relay(RelayOptions::default()).await?),
        _ => None,
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
