//! The same load by other means.

use super::{
    load::{CLAIM_BYTES, Load, gb, read_units, write_units},
    prices::Prices,
};

pub(crate) const DAYS: f64 = 30.0;
const HOURS: f64 = 730.0;
const MILLION: f64 = 1_000_000.0;

/// What a way costs in a month, and how that was reckoned.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) usd: f64,
    pub(crate) formula: String,
    /// What it does not do.
    pub(crate) lacks: &'static str,
}

/// This toolkit first, then the others.
pub(crate) fn ways(load: Load, prices: Prices) -> Vec<Way> {
    vec![this(load, prices), one_row(load, prices), two_tables(load, prices), cache(load, prices), fifo(load, prices)]
}

fn dynamodb(prices: Prices, writes: f64, reads: f64, stored_gb: f64) -> f64 {
    DAYS * (writes * prices.price_writes + reads * prices.price_reads) / MILLION
        + stored_gb * (prices.price_storage + prices.price_recovery)
}

fn this(load: Load, prices: Prices) -> Way {
    let needs = load.needs();
    Way {
        name: "this toolkit",
        usd: dynamodb(prices, needs.write_units, needs.read_units, needs.stored_gb),
        formula: format!(
            "30 d × ({:.0} write units + {:.0} read units) + {:.3} GB",
            needs.write_units, needs.read_units, needs.stored_gb
        ),
        lacks: "",
    }
}

/// A library with one row for a key, put before and updated after, whose duplicates read the row once more.
fn one_row(load: Load, prices: Prices) -> Way {
    let row = CLAIM_BYTES + load.result;
    let writes = load.fresh() * (1.0 + write_units(row)) + load.repeated() * write_units(row);
    let reads = load.repeated() * read_units(row);
    let stored = gb(load.fresh() * load.days_kept * (row + 100.0));
    Way {
        name: "one row: put, update, and a read by duplicates",
        usd: dynamodb(prices, writes, reads, stored),
        formula: format!("30 d × ({writes:.0} write units + {reads:.0} read units) + {stored:.3} GB"),
        lacks: "results above 400 KB; steps; a large row is billed whole at each refused put",
    }
}

/// A table of results, read first, and a table of locks.
fn two_tables(load: Load, prices: Prices) -> Way {
    let row = 150.0 + load.result;
    let writes = load.fresh() * (2.0 + write_units(row));
    let reads = load.requests * read_units(row);
    let stored = gb(load.fresh() * load.days_kept * (row + 100.0));
    Way {
        name: "two tables: read the result, lock, write it, unlock",
        usd: dynamodb(prices, writes, reads, stored),
        formula: format!("30 d × ({writes:.0} write units + {reads:.0} read units) + {stored:.3} GB"),
        lacks: "four requests fresh; a crash between result and lock; steps",
    }
}

/// A cache: set if absent, then set; duplicates get. Billed for 1 GB at least, always.
fn cache(load: Load, prices: Prices) -> Way {
    let kb = |bytes: f64| (bytes / 1024.0).max(1.0);
    let units = load.fresh() * (1.0 + kb(load.result)) + load.repeated() * (1.0 + kb(load.result));
    let stored = gb(load.fresh() * load.days_kept * (load.result + 200.0)).max(1.0);
    Way {
        name: "ElastiCache Serverless (Redis OSS)",
        usd: HOURS * stored * prices.price_cache + DAYS * units * prices.price_cache_units / MILLION,
        formula: format!("730 h × {stored:.3} GB (1 at least) + 30 d × {units:.0} processing units"),
        lacks: "durability: a failover forgets the newest keys; a VPC for each function",
    }
}

/// A FIFO queue's deduplication: send, receive and delete of each message that is new, and the send of each duplicate.
fn fifo(load: Load, prices: Prices) -> Way {
    let requests = load.fresh() * 3.0 + load.repeated();
    Way {
        name: "SQS FIFO deduplication",
        usd: DAYS * requests * prices.price_fifo / MILLION,
        formula: format!("30 d × {requests:.0} requests (send, receive, delete; one by one)"),
        lacks: "keys are forgotten after 5 minutes; no results; a message may still be delivered twice",
    }
}
