//! `idempotency doctor`: is everything set up so that the promises hold?

mod caller;
mod finding;
mod function;
mod invokers;
mod queue;
mod table;

use std::time::Duration;

use clap::Args;
use serde_json::json;

use self::{
    finding::{Finding, Level},
    function::Expected,
};
use super::{
    connection::Connection,
    error::{Exit, OperateError},
    output,
};

/// Look at the table, at your permissions, at functions and the queues that invoke them, and say what is wrong and what to do.
///
/// Nothing is changed: whether you may write is tried with conditions that nothing meets. What cannot be looked at (a permission of yours, an
/// engine that does not know it) is `unchecked` and no failure. Exits with 1 if there is a problem; with --strict for less, too.
#[derive(Clone, Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) connection: Connection,

    /// A function that uses the table; may be repeated. Its event source mappings and their queues, who invokes it asynchronously and where
    /// failures go are looked at too.
    #[arg(long = "function", value_name = "NAME")]
    functions: Vec<String>,

    /// The storage TTL of the operations that queues invoke, such as 552h (23 days), to be compared with the queues' retention.
    #[arg(long, value_name = "DURATION", value_parser = crate::cli::duration)]
    storage_ttl: Option<Duration>,

    /// Of a global table: the region in which keys are claimed, as IDEMPOTENCY_HOME_REGION says it to functions. Where tenants have homes of
    /// their own, the region of this replica.
    #[arg(long, value_name = "REGION", env = "IDEMPOTENCY_HOME_REGION")]
    home_region: Option<String>,

    /// Exit with 1 for warnings and what could not be checked, too.
    #[arg(long)]
    strict: bool,
}

impl Doctor {
    pub(crate) async fn run(self) -> Result<Exit, OperateError> {
        let (table, namespace) = (self.connection.table()?, self.connection.namespace_if_named()?);
        let sdk = self.connection.sdk().await?;
        let dynamodb = self.connection.dynamodb(&sdk);
        let home_region = self.home_region.as_deref().map(str::trim).filter(|home| !home.is_empty());
        let (mut findings, region) = table::check(&dynamodb, &table, home_region).await?;
        findings.extend(caller::check(&dynamodb, &table, namespace.as_ref()).await);
        findings.extend(caller::clock(self.connection.clock_is_ahead_by()));
        let (lambda, sqs) = (aws_sdk_lambda::Client::new(&sdk), aws_sdk_sqs::Client::new(&sdk));
        let expected = Expected {
            table: &table,
            namespace: namespace.as_ref().map(|namespace| namespace.as_str()),
            home_region,
            only_region: region.as_deref(),
        };
        for name in &self.functions {
            let looked = function::check(&lambda, name, &expected).await;
            findings.extend(looked.findings);
            for invoking in looked.queues {
                findings.extend(queue::check(&sqs, &invoking, self.storage_ttl).await);
            }
        }
        self.tell(&findings)
    }

    fn tell(&self, findings: &[Finding]) -> Result<Exit, OperateError> {
        let count = |level| findings.iter().filter(|finding| finding.level == level).count();
        let (problems, warnings, unchecked) = (count(Level::Problem), count(Level::Warn), count(Level::Unchecked));
        match self.connection.json {
            true => output::json(&json!({
                "problems": problems, "warnings": warnings, "unchecked": unchecked,
                "findings": findings.iter().map(Finding::facts).collect::<Vec<_>>(),
            }))?,
            false => {
                findings.iter().flat_map(Finding::lines).try_for_each(output::line)?;
                output::line("")?;
                output::line(format!(
                    "{problems} problems, {warnings} warnings, {unchecked} could not be checked, {} ok.",
                    count(Level::Ok)
                ))?;
                if self.functions.is_empty() {
                    output::line("Say --function NAME to have a function, its mappings and queues looked at too.")?;
                }
            }
        }
        let is_bad = problems > 0 || (self.strict && warnings + unchecked > 0);
        Ok(if is_bad { Exit::Found } else { Exit::Fine })
    }
}
