//! `idempotency local`.

use std::process::ExitCode;

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use crate::{
    CliError, RelayOptions, Stack, StackOptions,
    cli::Local,
    guide::{addresses, guide, is_relayed},
    page::Page,
};

/// Runs the stack until it is told to stop.
pub(crate) async fn run(arguments: Local) -> Result<ExitCode, CliError> {
    // Before anything is started, so that no signal finds it half set up.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (observer, events) = mpsc::unbounded_channel();
    let options = arguments.options()?;
    let options = match arguments.page() {
        Some(_) => StackOptions { observer: Some(observer), ..options },
        None => options,
    };
    let stack = Stack::start(options).await?;
    stack.forget_requests();
    let page = match arguments.page() {
        Some(address) => Some(Page::start(address, &stack, events).await?),
        None => None,
    };
    let page_url = page.as_ref().map(Page::url);
    let relay = match is_relayed(&stack) {
        true => Some(stack.relay(RelayOptions::default()).await?),
        false => None,
    };
    if arguments.json {
        println!("{}", addresses(&stack, page_url));
    } else {
        print!("{}", guide(&stack, page_url));
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    drop(page);
    if let Some(relay) = relay {
        relay.stop().await;
    }
    stack.stop().await;
    Ok(ExitCode::SUCCESS)
}
