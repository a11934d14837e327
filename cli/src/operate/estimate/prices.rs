//! What AWS asks for, as far as an estimate needs it.

use clap::Args;
use serde_json::{Value, json};

/// Where the defaults are from.
pub(crate) const SOURCE: &str = "us-east-1, US dollars, looked up on 2026-11-30 in copies of these pages and articles about them: \"Amazon DynamoDB pricing\" (on demand, Standard class, \
     prices since the reduction of 2024-11-01), \"Amazon SQS pricing\" (FIFO), \"Amazon ElastiCache pricing\" (Serverless, Redis OSS). \
     Free tiers are left out. Yours may differ: each is an option.";

/// Prices in US dollars.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Prices {
    /// A million write request units of DynamoDB.
    #[arg(long, value_name = "USD", default_value_t = 0.625, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_writes: f64,

    /// A million read request units of DynamoDB.
    #[arg(long, value_name = "USD", default_value_t = 0.125, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_reads: f64,

    /// A GB of DynamoDB storage for a month.
    #[arg(long, value_name = "USD", default_value_t = 0.25, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_storage: f64,

    /// A GB of point-in-time recovery for a month; 0 where it is off.
    #[arg(long, value_name = "USD", default_value_t = 0.20, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_recovery: f64,

    /// A million requests to a FIFO queue.
    #[arg(long, value_name = "USD", default_value_t = 0.50, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_fifo: f64,

    /// A GB of ElastiCache Serverless for an hour.
    #[arg(long, value_name = "USD", default_value_t = 0.125, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_cache: f64,

    /// A million ElastiCache processing units.
    #[arg(long, value_name = "USD", default_value_t = 0.0034, value_parser = amount, help_heading = "Prices (us-east-1, looked up on 2026-11-30)")]
    pub(crate) price_cache_units: f64,
}

fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "expected an amount such as 0.625".to_owned())
}

impl Prices {
    pub(crate) fn facts(self) -> Value {
        json!({
            "usd_per_million_write_units": self.price_writes,
            "usd_per_million_read_units": self.price_reads,
            "usd_per_gb_month": self.price_storage,
            "usd_per_gb_month_recovery": self.price_recovery,
            "usd_per_million_fifo_requests": self.price_fifo,
            "usd_per_cache_gb_hour": self.price_cache,
            "usd_per_million_cache_units": self.price_cache_units,
            "source": SOURCE,
        })
    }
}
