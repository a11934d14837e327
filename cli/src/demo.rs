//! `idempotency demo`: one charge, sent many times.

mod check;
mod report;

use std::{process::ExitCode, time::Duration};

use futures::future::{join, try_join_all};
use idempotency_testkit::{eventually, lambda::Logs, payment_provider::Behaviour};

use self::{check::Checks, report::Report};
use crate::{
    CliError, Stack, StackOptions,
    client::{Answer, Charge, Client},
};

/// Short, so that the lease of a killed sandbox (timeout and margin of 3 s) is soon over.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Long enough for 20 requests to meet each other.
const PROVIDER_DELAY: Duration = Duration::from_millis(150);

const DUPLICATES: usize = 20;

const ORDER: Charge<'static> = Charge { tenant: "tenant-7", key: "order-42", amount: 1200 };
const OTHER_BODY: Charge<'static> = Charge { amount: 9900, ..ORDER };
const OTHER_TENANT: Charge<'static> = Charge { tenant: "tenant-8", ..ORDER };
const CRASHED: Charge<'static> = Charge { key: "order-43", amount: 700, ..ORDER };

/// Runs the demo. Succeeds only if every count is right.
pub(crate) async fn run() -> Result<ExitCode, CliError> {
    let options =
        StackOptions { timeout: TIMEOUT, concurrency: DUPLICATES + 5, logs: Logs::Discard, ..StackOptions::default() };
    let stack = Stack::start(options).await?;
    println!("payments-api behind {}, records in {}, everything on loopback\n", stack.url(), stack.dynamodb_url());
    let outcome = scenario(&stack).await;
    stack.stop().await;
    outcome
}

async fn scenario(stack: &Stack) -> Result<ExitCode, CliError> {
    let client = Client::new(stack.url())?;
    let mut report = Report::default();

    // The crash comes first, so that its lease runs out while the rest goes on.
    let crashed = crash(stack, &client).await?;
    stack.provider().set_behaviour(Behaviour { delay_before_charging: PROVIDER_DELAY, ..Behaviour::default() });

    let duplicates = try_join_all((0..DUPLICATES).map(|_| client.charge(&ORDER))).await?;
    let retry = client.charge(&ORDER).await?;
    let mismatch = client.charge(&OTHER_BODY).await?;
    let other_tenant = client.charge(&OTHER_TENANT).await?;
    let recovered = retry_until_answered(&client).await?;

    for (number, duplicate) in (1..).zip(&duplicates) {
        report.add(&format!("the same charge, {number} of {DUPLICATES} at once"), duplicate);
    }
    report.add("the same charge, a retry afterwards", &retry);
    report.add("the same key with another amount", &mismatch);
    report.add("the same key from another tenant", &other_tenant);
    report.add("another charge; sandbox killed after the provider charged", &crashed);
    for answer in &recovered {
        report.add("that charge again", answer);
    }
    let ledger = stack.provider().ledger();
    report.print(&ledger);

    let mut checks = Checks::default();
    let fresh: Vec<_> = duplicates.iter().filter(|answer| answer.status == 201 && !answer.replayed).collect();
    checks.expect("one of 20 concurrent duplicates ran", fresh.len() == 1);
    checks.expect(
        "the others got 409 or the stored response",
        duplicates.iter().all(|answer| answer.status == 409 || answer.status == 201),
    );
    checks.expect(
        "every 201 has the same bytes",
        duplicates.iter().chain([&retry]).filter(|answer| answer.status == 201).all(|answer| {
            fresh.first().is_some_and(|fresh| fresh.body == answer.body && fresh.location == answer.location)
        }),
    );
    checks.expect("the retry got the stored response", retry.status == 201 && retry.replayed);
    checks.expect("another amount under the same key got 422", mismatch.status == 422);
    checks.expect("another tenant got a charge of its own", other_tenant.status == 201 && !other_tenant.replayed);
    checks.expect("the killed attempt gave no response of its own", crashed.status == 500);
    checks.expect(
        "after the crash, a retry got the charge",
        recovered.last().is_some_and(|answer| answer.status == 201 && !answer.replayed),
    );
    for charge in [ORDER, OTHER_TENANT, CRASHED] {
        let made = ledger.iter().filter(|entry| {
            entry.account == charge.tenant && entry.key.as_deref() == Some(charge.key) && entry.amount == charge.amount
        });
        checks.expect(&format!("{} was charged once for {}", charge.tenant, charge.key), made.count() == 1);
    }
    checks.expect("nothing else was charged", ledger.len() == 3);
    Ok(checks.conclude())
}

/// Sends a charge and kills its sandbox between the provider's charge and the function's completion.
async fn crash(stack: &Stack, client: &Client) -> Result<Answer, CliError> {
    // Longer than it takes to see the charge and kill the sandbox, shorter than the lease.
    let answers_late = Duration::from_secs(2);
    stack.provider().set_behaviour(Behaviour { delay_after_charging: answers_late, ..Behaviour::default() });
    let kill = async {
        eventually(Duration::from_secs(5), async || (!stack.provider().ledger().is_empty()).then_some(()))
            .await
            .map_err(|source| CliError::Waited { what: "the first charge", source })?;
        for sandbox in stack.function().sandboxes() {
            sandbox.kill();
        }
        Ok::<_, CliError>(())
    };
    let (answer, killed) = join(client.charge(&CRASHED), kill).await;
    killed?;
    answer
}

/// A well-behaved client: it repeats the request after `Retry-After` until it gets something other than a conflict or "not now".
async fn retry_until_answered(client: &Client) -> Result<Vec<Answer>, CliError> {
    let mut answers = Vec::new();
    loop {
        let answer = client.charge(&CRASHED).await?;
        let again = answer.retry_after.filter(|_| matches!(answer.status, 409 | 503) && answers.len() < 5);
        answers.push(answer);
        match again {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Ok(answers),
        }
    }
}
