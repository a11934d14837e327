//! The metrics of a finished run.

use metrics::Unit;

use crate::state::State;

/// Name, unit and meaning. `infra/metrics.json` lists them for the alarms.
const METRICS: [(&str, Unit, &str); 7] = [
    ("ReconciledWrites", Unit::Count, "The effects that a run has read. A run without effects says 0."),
    ("DuplicateEffects", Unit::Count, "Effects beyond the first with one business key."),
    ("OverdueRecords", Unit::Count, "Records in flight whose lease was over when the run began."),
    ("StuckRecords", Unit::Count, "Records that wait for an operator, and those whose undoing nobody goes on with."),
    ("EffectsWithoutRecord", Unit::Count, "Effects whose record is not there and cannot have expired."),
    ("RecordsWithoutEffect", Unit::Count, "Completed records whose effect is not there."),
    ("TableBytes", Unit::Bytes, "The size of the table of records, as DynamoDB last counted it."),
];

/// Tells the recorder of units.
pub(crate) fn describe() {
    for (name, unit, meaning) in METRICS {
        metrics::describe_histogram!(name, unit, meaning);
    }
}

/// Tells what a run has found. These are values and not counters, so that a zero is told too: silence means that no run has finished.
pub(crate) fn tell(state: &State) {
    let findings = &state.findings;
    let values = [
        state.effects_scanned(),
        findings.duplicates.count,
        findings.overdue.count,
        findings.stuck.count + findings.compensating.count,
        findings.effects_without_record.count,
        findings.records_without_effect.count,
        state.table_bytes,
    ];
    for ((name, ..), value) in METRICS.iter().zip(values) {
        #[expect(clippy::cast_precision_loss, reason = "a metric is a floating-point number")]
        metrics::histogram!(*name).record(value as f64);
    }
}
