//! `idempotency estimate`: what it will cost.

mod load;
mod peers;
mod prices;

use std::time::Duration;

use clap::Args;
use idempotency_core::Window;
use serde_json::json;

use self::{
    load::Load,
    peers::{DAYS, Way, ways},
    prices::{Prices, SOURCE},
};
use super::{
    error::{Exit, OperateError},
    output,
    time::span,
};
use crate::table;

/// Reckon what a table of records will cost, next to other ways to the same end.
///
/// Nothing is asked of AWS: it is arithmetic on what you say, with prices that are options. What effects cost (a transaction's other
/// writes, the relay, Lambda itself) is left out everywhere.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Estimate {
    /// Requests in a day, duplicates among them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    requests_per_day: u64,

    /// How many of a hundred requests are duplicates.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    duplicates: u8,

    /// Bytes of an average response, as it is stored: compressed, if it has more than 1 KB. JSON often shrinks to a third.
    #[arg(long, value_name = "BYTES", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(0..=6_291_456))]
    response_size: u64,

    /// How long a record is kept: the window's storage TTL, such as 48h or 23d.
    #[arg(long, value_name = "DURATION", default_value = "48h", value_parser = retention)]
    retention: Duration,

    /// Steps of an operation.
    #[arg(long, value_name = "N", default_value_t = 0)]
    steps: u8,

    /// Bytes of an average step's output.
    #[arg(long, value_name = "BYTES", default_value_t = 200, value_parser = clap::value_parser!(u64).range(0..=358_400))]
    step_size: u64,

    /// The operation is atomic: its record commits with its effect.
    #[arg(long, conflicts_with = "steps")]
    atomic: bool,

    #[command(flatten)]
    prices: Prices,

    /// Print one JSON object. Errors too, on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A duration, also in days.
fn retention(text: &str) -> Result<Duration, String> {
    let retention = match text.strip_suffix('d').map(str::parse::<u64>) {
        Some(Ok(days)) => Duration::from_secs(days.saturating_mul(86_400)),
        _ => crate::cli::duration(text).map_err(|_| "expected a duration such as 48h or 23d".to_owned())?,
    };
    match (Duration::from_secs(1)..=Window::MAX_STORAGE_TTL).contains(&retention) {
        true => Ok(retention),
        false => Err("a record is kept for 366 days at the longest".to_owned()),
    }
}

impl Estimate {
    pub(crate) fn run(self) -> Result<Exit, OperateError> {
        let load = self.load();
        let (needs, ways) = (load.needs(), ways(load, self.prices));
        if self.json {
            let usd = ways.first().map(|way| cents(way.usd));
            let ways = ways.iter().map(|way| {
                json!({ "way": way.name, "usd_per_month": cents(way.usd), "formula": way.formula, "lacks": way.lacks })
            });
            output::json(&json!({
                "write_units_per_day": needs.write_units, "read_units_per_day": needs.read_units, "stored_gb": needs.stored_gb,
                "usd_per_month": usd,
                "ways": ways.collect::<Vec<_>>(), "prices": self.prices.facts(),
            }))?;
            return Ok(Exit::Fine);
        }
        output::line(format!(
            "{} requests a day, {} % of them duplicates, {} bytes stored for each response, kept for {}:",
            self.requests_per_day,
            self.duplicates,
            self.response_size,
            span(self.retention)
        ))?;
        output::line(format!(
            "  {:.0} write units and {:.0} read units a day ({DAYS} days are a month), {:.3} GB stored",
            needs.write_units, needs.read_units, needs.stored_gb
        ))?;
        output::line("")?;
        compared(&ways).to_string().lines().try_for_each(output::line)?;
        output::line("")?;
        for way in &ways {
            output::line(format!("{}: {}", way.name, way.formula))?;
        }
        output::line("")?;
        output::line(format!("Prices: {SOURCE}"))?;
        Ok(Exit::Fine)
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn load(self) -> Load {
        Load {
            requests: self.requests_per_day as f64,
            duplicates: f64::from(self.duplicates) / 100.0,
            result: self.response_size as f64,
            days_kept: self.retention.as_secs_f64() / 86_400.0,
            steps: f64::from(self.steps),
            step_output: self.step_size as f64,
            atomic: self.atomic,
        }
    }
}

fn compared(ways: &[Way]) -> comfy_table::Table {
    let mut table = table::new(["way", "USD a month", "what it lacks"]);
    for way in ways {
        table.add_row([way.name.to_owned(), format!("{:.2}", way.usd), way.lacks.to_owned()]);
    }
    table::align_right(&mut table, 1);
    table
}

fn cents(usd: f64) -> f64 {
    (usd * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_has_a_unit_and_an_end() {
        assert_eq!(retention("23d"), Ok(Duration::from_secs(23 * 86_400)));
        assert_eq!(retention("48h"), Ok(Duration::from_secs(48 * 3_600)));
        for text in ["0s", "367d", "d", "forever", "99999999999999999d"] {
            assert!(retention(text).is_err(), "{text}");
        }
    }
}
