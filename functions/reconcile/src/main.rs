//! The nightly comparison of what happened with what the idempotency records say.
//!
//! It reads the table of records and any tables of effects from end to end, and reports
//!
//! * **duplicates**: two effects with one business key, which is what the records are there to prevent,
//! * **overdue records**: an attempt was lost and nobody came back for it. Under `on_abandoned = reject` these are the uncertain ones,
//! * **stuck records**: an operator must act; and compensating ones that nobody goes on with,
//! * **effects without a record**: something happened that was not protected,
//! * **records without an effect**: an operation has a result, and its effect is not there.
//!
//! The report is an object in a bucket, `{prefix}/{namespace}/{date}/report.json`; the counts are metrics, on which there are alarms.
//!
//! # How
//!
//! Tables are read in segments, side by side. What is to be compared is written to the bucket in partitions by hash, so that all that
//! belongs together is in one, and each partition is looked at in memory: one read of each table, and no more memory for a large one
//! than for a small one. An invocation stops before its time is over, having stored how far it has come; the next one goes on there. So
//! the schedule invokes it several times a night, and what comes when the night's work is done does nothing.
//!
//! A run goes on only with the configuration that it was begun with. With another one it begins afresh.
//!
//! The tables are read while they are written to, and read eventually consistent, for half of the price. So what is younger than an
//! hour when a run begins is not judged; the next night's run does it.
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `IDEMPOTENCY_TABLE` | table of the idempotency records |
//! | `IDEMPOTENCY_NAMESPACE` | this deployment's name: records of others are left alone |
//! | `REPORT_URL` | where reports and what is in the works are kept: `s3://bucket/prefix`, or `file:///folder` on one's own machine |
//! | `EFFECT_TABLES` | the tables of effects, a JSON array, see below; may be missing |
//! | `REMEMBERED_FOR_HOURS` | the storage TTL of the operations: an effect that is older may have lost its record. 48 if not set |
//! | `SEGMENTS` | how many parts of each table are read side by side, from 1 to 64. 4 if not set |
//! | `READ_UNITS_PER_SECOND` | how many read units of each table are used up in a second at the most; no limit if not set |
//!
//! A table of effects, here of all that can be said:
//!
//! ```json
//! [{
//!     "table": "charges",
//!     "business_key": ["idempotency_record"],
//!     "record": "idempotency_record",
//!     "created_at": "created_at",
//!     "operations": ["create-charge"]
//! }]
//! ```
//!
//! | member | meaning |
//! |---|---|
//! | `table` | its name |
//! | `business_key` | attributes which no two items have alike. Without it no duplicates are looked for |
//! | `record` | the attribute with the partition key of the effect's record ([`Attempt::record`](lambda_idempotency::Attempt::record)). Without it effects and records are not compared |
//! | `created_at` | the attribute with the time of the effect, in milliseconds since 1970 (N). Without it no effect is said to have no record, because its record may have expired |
//! | `operations` | operations each of whose completed records has an effect here, unless its result is an HTTP response from 400 on, or empty as a marker's ([`Attempt::once`](lambda_idempotency::Attempt::once)) |

mod config;
mod effect_table;
mod entry;
mod findings;
mod item_key;
mod judge;
mod metric;
mod pace;
mod partitions;
mod report;
mod run;
mod scan;
mod sift;
mod state;
mod storage;

use lambda_idempotency::{lambda_deadline, metrics};
use lambda_runtime::{Error, LambdaEvent, run as run_lambda, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let app = config::app_from_env().await?;
    run_lambda(service_fn(async |event: LambdaEvent<run::Invocation>| {
        let answer = run::run(&app, event.payload, lambda_deadline(&event.context)).await;
        metrics::flush();
        answer
    }))
    .await
}
