//! `idempotency local`.

use std::process::ExitCode;

use idempotency_testkit::http_front::HttpKind;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::{CliError, Stack, cli::Local};

/// Runs the stack until it is told to stop.
pub(crate) async fn run(arguments: Local) -> Result<ExitCode, CliError> {
    // Before anything is started, so that no signal finds it half set up.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stack = Stack::start(arguments.options()).await?;
    print!("{}", if arguments.json { addresses(&stack) } else { guide(&stack) });
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    stack.stop().await;
    Ok(ExitCode::SUCCESS)
}

fn addresses(stack: &Stack) -> String {
    let addresses = json!({
        "http": stack.url(),
        "http_kind": stack.http_kind().name(),
        "dynamodb": stack.dynamodb_url(),
        "table": Stack::TABLE,
        "provider": stack.provider().url(),
    });
    format!("{addresses}\n")
}

/// What people call the front.
const fn front(kind: HttpKind) -> &'static str {
    match kind {
        HttpKind::RestApi => "REST API",
        HttpKind::Alb | HttpKind::AlbMultiValue => "load balancer",
        HttpKind::FunctionUrl => "function URL",
        _ => "HTTP API",
    }
}

fn guide(stack: &Stack) -> String {
    let front = front(stack.http_kind());
    let (http, dynamodb, table, provider) = (stack.url(), stack.dynamodb_url(), Stack::TABLE, stack.provider().url());
    format!(
        r#"{front:<16}  {http}
DynamoDB          {dynamodb}  (table {table})
payment provider  {provider}  (what was charged: {provider}/ledger)

To see what a duplicate gets meanwhile, make the provider slow (GET {provider}/behaviour shows what else it can do):

  curl -X PUT {provider}/behaviour -d '{{"delay_after_charging_ms": 5000}}'

Send a charge to payments-api, then send it again:

  curl -i {http}/charges -H 'x-tenant-id: tenant-7' -H 'Idempotency-Key: order-42' \
    -H 'content-type: application/json' -d '{{"amount": 1200, "currency": "EUR", "customer": "cus_42"}}'

Ctrl-C stops.
"#
    )
}
