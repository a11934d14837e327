//! The demo's tables.

use idempotency_testkit::payment_provider::LedgerEntry;

use crate::{client::Answer, table};

/// What was sent and what came back, line by line.
#[derive(Default)]
pub(super) struct Report {
    rows: Vec<[String; 4]>,
}

impl Report {
    pub(super) fn add(&mut self, request: &str, answer: &Answer) {
        let note = match (answer.replayed, answer.retry_after) {
            (true, _) => "replayed".to_owned(),
            (false, Some(pause)) => format!("retry after {} s", pause.as_secs()),
            (false, None) => String::new(),
        };
        self.rows.push([request.to_owned(), answer.status.to_string(), note, answer.took.as_millis().to_string()]);
    }

    pub(super) fn print(self, ledger: &[LedgerEntry]) {
        let mut requests = table::new(["request", "status", "", "ms"]);
        requests.add_rows(self.rows);
        table::align_right(&mut requests, 3);
        let mut charges = table::new(["what the provider charged", "account", "idempotency key", "amount"]);
        charges.add_rows(ledger.iter().map(|entry| {
            [
                entry.id.clone(),
                entry.account.clone(),
                entry.key.clone().unwrap_or_default(),
                format!("{}.{:02} {}", entry.amount / 100, entry.amount % 100, entry.currency),
            ]
        }));
        table::align_right(&mut charges, 3);
        println!("{requests}\n\n{charges}\n");
    }
}
