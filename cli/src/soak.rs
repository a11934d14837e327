//! `idempotency soak`: many messages through a queue and the real claims worker, while everything breaks at random.

mod books;
mod disturbance;
mod judge;
mod load;

use std::{process::ExitCode, time::Duration};

use idempotency_testkit::{eventually, lambda::Logs};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, sleep};

use self::{disturbance::Disturbance, judge::Findings, load::Load};
use crate::{CliError, QueueOptions, Relay, RelayOptions, Stack, StackOptions, cli::Soak};

/// Longer than a batch takes, on a busy machine too: a batch of ten claims is some 60 requests. Invocations that are ended by their timeout
/// come again and make the others slower, until most end so (3 s were too few). A lost attempt's lease is 3 s longer.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A message comes again when the lease of the attempt that was lost with it is over.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(19);

/// No message is given up: what is lost here would be a fault.
const MAX_RECEIVES: u32 = 1000;

/// How many sandboxes work at a time.
const SANDBOXES: usize = 8;

/// How long nothing may happen before the run counts as stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the messages through. Succeeds only if every claim has exactly its effects.
pub(crate) async fn run(arguments: Soak) -> Result<ExitCode, CliError> {
    let load = Load::new(&arguments);
    let options = StackOptions {
        function: "claims-intake".to_owned(),
        timeout: TIMEOUT,
        queue: QueueOptions {
            visibility_timeout: VISIBILITY_TIMEOUT,
            max_receives: MAX_RECEIVES,
            ..QueueOptions::default()
        },
        concurrency: SANDBOXES,
        // The sandboxes have much to say about what is done to them here.
        logs: Logs::Discard,
        ..StackOptions::default()
    };
    let stack = Stack::start(options).await?;
    let relay = stack.relay(RelayOptions { logs: Logs::Discard, ..RelayOptions::default() }).await?;
    let disturbance = Disturbance::begin(&stack, &arguments);
    let queue = stack.queue().ok_or(CliError::NoQueue)?;
    for message in load.messages() {
        queue.send(message.clone())?;
    }
    let begin = Instant::now();
    let is_through = carry_through(&stack, load.messages().len()).await;
    let took = begin.elapsed();
    stack.proxy().clear_rules();
    until_sent(&relay, load.claims().len()).await;
    let findings = Findings::of(&stack, &relay, &load, &disturbance, is_through).await?;
    relay.stop().await;
    stack.stop().await;
    Ok(findings.print(&load, &disturbance, took))
}

/// Waits until there are this many events on the bus. If they do not come, that is found later.
async fn until_sent(relay: &Relay, events: usize) {
    let sent = async || (relay.bus_events().counts().total() >= events).then_some(());
    let _ = eventually(PATIENCE, sent).await;
}

/// Waits until the queue is empty. Says whether it became so.
async fn carry_through(stack: &Stack, messages: usize) -> bool {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} messages, {elapsed} of about {duration}");
    // The template is a constant; if it were wrong, the default would do.
    let progress = ProgressBar::new(messages as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let done = || stack.mapping().map_or(0, |mapping| mapping.counts().deleted);
    let mut last = (done(), Instant::now());
    while !stack.queue().is_some_and(idempotency_testkit::sqs::Queue::is_empty) {
        sleep(Duration::from_millis(50)).await;
        progress.set_position(done());
        if done() != last.0 {
            last = (done(), Instant::now());
        }
        if last.1.elapsed() > PATIENCE {
            return false;
        }
    }
    progress.finish_and_clear();
    true
}
