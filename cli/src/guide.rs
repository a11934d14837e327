//! What `idempotency local` tells: the addresses, and what to try.

use idempotency_testkit::http_front::HttpKind;
use serde_json::{Value, json};

use crate::{
    Stack, Trigger,
    entrance::stream::{BUS_EVENTS, RECEIPTS},
    ready_made::ReadyMade,
};

/// The addresses as one JSON object.
pub(crate) fn addresses(stack: &Stack, page: Option<&str>) -> Value {
    let mut addresses = json!({
        "function": name(stack),
        "trigger": stack.trigger().name(),
        "page": page,
        "http": stack.url(),
        "http_kind": stack.http_kind().map(HttpKind::name),
        "dynamodb": stack.dynamodb_url(),
        "table": Stack::TABLE,
        "tables": ReadyMade::all_tables().map(|table| table.name).chain(own_tables(stack)).collect::<Vec<_>>(),
        "provider": stack.provider().url(),
        "carrier": stack.carrier().url(),
        "summariser": stack.summariser().url(),
        "notifier": stack.notifier().url(),
        "sqs": stack.sqs().url(),
        "eventbridge": stack.bus().url(),
    });
    let queue = stack.queue().map(|queue| ("queue", queue.name()));
    let dead_letters = stack.dead_letters().map(|queue| ("dead_letter_queue", queue.name()));
    let events = (stack.trigger() == Trigger::Stream || is_relayed(stack)).then_some(("bus_events", BUS_EVENTS));
    if let Some(addresses) = addresses.as_object_mut() {
        for (member, queue) in [queue, dead_letters, events].into_iter().flatten() {
            addresses.insert(member.to_owned(), queue_url(stack, queue).into());
        }
    }
    addresses
}

/// The addresses and what to try, for people.
pub(crate) fn guide(stack: &Stack, page: Option<&str>) -> String {
    let (entrance, what_to_try) = match stack.trigger() {
        Trigger::Http => (http_entrance(stack), http(stack)),
        Trigger::Sqs => (sqs_entrance(stack), sqs(stack)),
        Trigger::EventBridge => {
            (format!("event bus         {}\n{}", stack.url(), dead_letters(stack)), eventbridge(stack))
        }
        Trigger::Async => (format!("invocations       {}\n{}", stack.url(), dead_letters(stack)), invocations(stack)),
        Trigger::Stream => (stream_entrance(stack), stream(stack)),
    };
    let (dynamodb, table) = (stack.dynamodb_url(), Stack::TABLE);
    let page =
        page.map(|url| format!("page              {url}  (what happens here, and buttons)\n")).unwrap_or_default();
    let namespace = Stack::NAMESPACE;
    format!(
        "{page}{entrance}DynamoDB          {dynamodb}  (table {table})\n{what_to_try}
Operate on it, in another terminal (resolve and evict want --by NAME here):

  export AWS_ENDPOINT_URL_DYNAMODB={dynamodb} IDEMPOTENCY_TABLE={table} IDEMPOTENCY_NAMESPACE={namespace}
  cargo run -- list --all

Ctrl-C stops.
"
    )
}

fn name(stack: &Stack) -> &str {
    &stack.function().config().name
}

/// Whether what the function stages is sent to the bus.
pub(crate) fn is_relayed(stack: &Stack) -> bool {
    ReadyMade::find(name(stack)).is_some_and(|function| function.is_relayed)
}

fn queue_url(stack: &Stack, queue: &str) -> String {
    format!("{}/queues/{queue}", stack.sqs().url())
}

/// What may be sent to the function, if that is known.
fn example(stack: &Stack) -> &'static str {
    ReadyMade::find(name(stack)).map_or("{}", |function| function.example)
}

fn dead_letters(stack: &Stack) -> String {
    let queue = stack.dead_letters().map(|queue| queue_url(stack, queue.name())).unwrap_or_default();
    format!("dead letters      {queue}/messages\n")
}

/// How to look into the function's own tables.
fn tables(stack: &Stack) -> String {
    let tables = ReadyMade::find(name(stack)).map_or(&[][..], |function| function.tables);
    let scan = |table: &str| {
        // DynamoDB takes signed requests only. Locally any key will do.
        format!(
            "\nSee what is in the table {table}:\n\n  curl {} --aws-sigv4 aws:amz:us-east-1:dynamodb --user local:local \\\n    \
             -H 'content-type: application/x-amz-json-1.0' -H 'x-amz-target: DynamoDB_20120810.Scan' -d '{{\"TableName\": \"{table}\"}}'\n",
            stack.dynamodb_url()
        )
    };
    tables.iter().map(|table| table.name).chain(own_tables(stack)).map(scan).collect()
}

fn own_tables(stack: &Stack) -> impl Iterator<Item = &str> {
    stack.own_tables().iter().map(|table| table.name.as_str())
}

fn stream_entrance(stack: &Stack) -> String {
    let messages = |queue| format!("{}/messages", queue_url(stack, queue));
    format!(
        "stream            of the table {}, entries of the outbox in the namespace {}\nqueue             {}\nevents of the bus {}\n{}",
        Stack::TABLE,
        Stack::NAMESPACE,
        messages(RECEIPTS),
        messages(BUS_EVENTS),
        dead_letters(stack)
    )
}

fn stream(stack: &Stack) -> String {
    let (name, table, dynamodb) = (name(stack), Stack::TABLE, stack.dynamodb_url());
    // An example of its own says what an entry is, which a function of the user's own must read too.
    let example = ReadyMade::find("outbox-relay").map_or("{}", |function| function.example);
    format!(
        r#"
Stage an event for {name}, as a handler does with its effect; another sort key, event_id and key are another event:

  curl {dynamodb} --aws-sigv4 aws:amz:us-east-1:dynamodb --user local:local \
    -H 'content-type: application/x-amz-json-1.0' -H 'x-amz-target: DynamoDB_20120810.PutItem' \
    -d '{{"TableName": "{table}", "Item": {example}}}'

See that it was sent:

  curl {}/messages

What cannot be sent is tried again ten times, and then the dead letters are told where it stands in the stream.
"#,
        queue_url(stack, RECEIPTS)
    )
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

fn http_entrance(stack: &Stack) -> String {
    format!("{:<16}  {}\n", stack.http_kind().map_or("HTTP API", front), stack.url())
}

fn http(stack: &Stack) -> String {
    let (http, provider, name) = (stack.url(), stack.provider().url(), name(stack));
    if ReadyMade::find(name).is_none() {
        return format!(
            r#"payment provider  {provider}  (PAYMENT_PROVIDER_URL)

Send a request to {name}, with its own path and body in the place of these, then send it again:

  curl -i {http}/ -H 'x-tenant-id: tenant-7' -H 'Idempotency-Key: order-42' \
    -H 'content-type: application/json' -d '{{}}'
"#
        );
    }
    let (example, carrier) = (example(stack), stack.carrier().url());
    let events = format!("{}/messages", queue_url(stack, BUS_EVENTS));
    format!(
        r#"payment provider  {provider}  (what was charged: {provider}/ledger)

To see what a duplicate gets meanwhile, make the provider slow (GET {provider}/behaviour shows what else it can do):

  curl -X PUT {provider}/behaviour -d '{{"delay_after_charging_ms": 5000}}'

Send a charge to {name}, then send it again:

  curl -i {http}/charges -H 'x-tenant-id: tenant-7' -H 'Idempotency-Key: order-42' \
    -H 'content-type: application/json' -d '{example}'

Move money between two accounts; what commits with the answer is there once:

  curl -X PUT {http}/accounts/a -H 'x-tenant-id: tenant-7' -H 'content-type: application/json' -d '{{"balance": 1000}}'
  curl -X PUT {http}/accounts/b -H 'x-tenant-id: tenant-7' -H 'content-type: application/json' -d '{{"balance": 0}}'
  curl -i {http}/transfers -H 'x-tenant-id: tenant-7' -H 'Idempotency-Key: transfer-1' \
    -H 'content-type: application/json' -d '{{"from": "a", "to": "b", "amount": 300}}'
  curl {http}/accounts/a -H 'x-tenant-id: tenant-7'

Place an order, whose steps are undone if one of them is refused (what is shipped: {carrier}/ledger, its events: {events}):

  curl -X PUT {http}/stock/tea -H 'x-tenant-id: tenant-7' -H 'content-type: application/json' -d '{{"available": 10}}'
  curl -i {http}/orders -H 'x-tenant-id: tenant-7' -H 'Idempotency-Key: order-1' -H 'content-type: application/json' \
    -d '{{"sku": "tea", "quantity": 2, "amount": 900, "currency": "EUR", "customer": "cus_42", "address": "1 Tea Street"}}'
"#
    )
}

fn sqs_entrance(stack: &Stack) -> String {
    let queue = stack.queue().map(|queue| queue_url(stack, queue.name())).unwrap_or_default();
    let effects = match is_relayed(stack) {
        true => {
            let (notifier, events) = (stack.notifier().url(), queue_url(stack, BUS_EVENTS));
            format!("notifications     {notifier}/ledger\nevents of the bus {events}/messages\n")
        }
        false => String::new(),
    };
    format!("queue             {queue}\n{}{effects}", dead_letters(stack))
}

fn sqs(stack: &Stack) -> String {
    let (name, example) = (name(stack), example(stack));
    let Some((queue, config)) = stack.queue().and_then(|queue| Some((queue, queue.config().ok()?))) else {
        return String::new();
    };
    let fifo = if config.is_fifo() {
        " \\\n    -H 'x-message-group-id: tenant-7' -H 'x-message-deduplication-id: message-1'"
    } else {
        ""
    };
    let (url, timeout) = (queue_url(stack, queue.name()), config.visibility_timeout);
    let receives = config.dead_letter.map_or(0, |dead_letter| dead_letter.max_receive_count);
    format!(
        r#"
Send a message to {name}, then send it again. (A key travels with it as an attribute: {url}/messages?Idempotency-Key=order-42)

  curl {url}/messages{fifo} -d '{example}'

See what the queue holds. What fails comes again after {timeout:?}, and goes to the dead letters after {receives} receives:

  curl {url}
{}"#,
        tables(stack)
    )
}

fn eventbridge(stack: &Stack) -> String {
    let (name, url, example) = (name(stack), stack.url(), example(stack));
    format!(
        r#"
Send an event to {name}, then send it again. (The bus gives each an id of its own; the key in its detail says that they are one.)

  curl {url}/events -d '{example}'

{}
{}"#,
        retries(stack),
        tables(stack)
    )
}

fn invocations(stack: &Stack) -> String {
    let (name, url) = (name(stack), stack.url());
    format!(
        r#"
Invoke {name} asynchronously, then once more with the same key:

  curl -i {url} -H 'x-amz-invocation-type: Event' -d '{{"idempotencyKey": "job-1"}}'

{}
"#,
        retries(stack)
    )
}

fn retries(stack: &Stack) -> String {
    let waits = stack.retry_after().iter().map(|wait| format!("{wait:?}")).collect::<Vec<_>>().join(" and ");
    format!(
        "What fails comes again after {waits} (--retry-after; 60s and 120s on AWS), and then goes to the dead letters."
    )
}
