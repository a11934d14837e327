//! One event, and the same event again.

use std::collections::BTreeMap;

use lambda_http::{Context, LambdaEvent};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Counts, RecordTrigger,
    answer::{expected, identifiers},
    deliver::{Delivery, Ending, Function, REQUEST_ID, Run, Setup},
    known::{Identity, Known},
    mutate::mutated,
    predict::{Fate, Keys, facts, predict},
};
use crate::{Choices, events::Json};

/// Checks the event that follows from a seed. A panic is told with the command that repeats it.
pub fn check_seed(trigger: &RecordTrigger, seed: u64, counts: &mut Counts) {
    struct Repeat<'a>(&'a RecordTrigger, u64);
    impl Drop for Repeat<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Self(trigger, seed) = self;
                let name = trigger.name;
                eprintln!(
                    "repeat it: cargo run --release -p fuzz-checks -- --trigger {name} --first {seed} --events 1 --trace"
                );
            }
        }
    }
    let _repeat = Repeat(trigger, seed);
    check(trigger, &mut Choices::seeded(seed), counts);
}

/// Checks the event that follows from decisions.
pub fn check(trigger: &RecordTrigger, choices: &mut Choices<'_>, counts: &mut Counts) -> Json {
    let event = mutated(trigger.kind, choices);
    check_text(trigger, &event.to_string(), counts);
    event
}

/// Checks any text as an event.
pub fn check_text(trigger: &RecordTrigger, text: &str, counts: &mut Counts) {
    (trigger.check)(text, counts);
}

/// Checks a text as an event of this source.
pub(super) fn check_as<Src>(source: Src, text: &str, counts: &mut Counts)
where
    Src: Known<Event: DeserializeOwned, Response: Serialize> + Copy,
{
    counts.events += 1;
    let setup = Setup::of(text);
    let function = Function::new(setup);
    let Some(first) = function.deliver(source, text) else {
        counts.not_decoded += 1;
        assert_eq!(function.records(), 0, "{text}");
        return;
    };
    let mut checked = Checked::<Src> {
        text,
        setup,
        records: records::<Src>(text),
        keys: Keys::default(),
        names: BTreeMap::new(),
        runs: vec![],
    };
    match checked.delivery(&first) {
        None => counts.unknown += 1,
        Some(fates) => count(&fates, first.answer.is_err() && Src::REPORTS, counts),
    }
    let Some(second) = function.deliver(source, text) else { panic!("refused the second time: {text}") };
    checked.delivery(&second);
}

fn records<Src: Known<Event: DeserializeOwned>>(text: &str) -> Vec<Src::Record> {
    let mut context = Context::default();
    context.request_id = REQUEST_ID.into();
    Src::records(LambdaEvent::new(serde_json::from_str(text).unwrap(), context))
}

struct Checked<'a, Src: Known> {
    text: &'a str,
    setup: Setup,
    records: Vec<Src::Record>,
    keys: Keys,
    /// The key of each identity that has run.
    names: BTreeMap<String, Identity>,
    /// All runs so far.
    runs: Vec<Run>,
}

impl<Src: Known> Checked<'_, Src> {
    /// Checks one delivery; says what became of each record, if that can be known.
    fn delivery(&mut self, delivery: &Delivery) -> Option<Vec<Fate>> {
        let Self { text, .. } = self;
        assert_eq!(delivery.read.len(), self.records.len(), "{text}: not all records were read");
        let facts = facts::<Src>(&self.records, &delivery.read);
        self.runs.extend(delivery.runs.iter().cloned());
        for run in &delivery.runs {
            let identity = facts[run.record].identity.clone();
            let identity = identity.unwrap_or_else(|| panic!("{}: {run:?} without a key", self.text));
            if let Identity::Key(key) = &identity {
                assert_eq!(&run.key, key, "{}: {run:?} under another key", self.text);
            }
            let known = self.names.entry(run.key.clone()).or_insert_with(|| identity.clone());
            assert_eq!(known, &identity, "{}: two identities share a key", self.text);
        }
        self.at_most_once();
        self.names_only_its_own(delivery);
        let mut keys = self.keys.clone();
        let fates = predict(&facts, self.setup, &mut keys);
        match &fates {
            Some(fates) => {
                self.keys = keys;
                self.is_as_predicted(delivery, fates);
            }
            None if self.setup.skips_poison => {}
            None => self.whatever_is_not_reported_is_done(
                delivery,
                &facts.iter().map(|fact| fact.identity.clone()).collect::<Vec<_>>(),
            ),
        }
        fates
    }

    /// A handler runs once for a key unless it said that nothing happened.
    fn at_most_once(&self) {
        let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.ending != Ending::Retryable) {
            *runs.entry(&run.key).or_default() += 1;
        }
        assert!(runs.values().all(|runs| *runs == 1), "{}: ran again: {:?}", self.text, self.runs);
    }

    /// Identifiers are of the batch, and not empty.
    fn names_only_its_own(&self, delivery: &Delivery) {
        let Ok(answer) = &delivery.answer else { return };
        let own: Vec<_> = self.records.iter().filter_map(Src::identifier).collect();
        for identifier in identifiers(answer) {
            assert!(
                own.contains(identifier) && !identifier.is_null() && identifier != "",
                "{}: {identifier}",
                self.text
            );
        }
    }

    fn is_as_predicted(&self, delivery: &Delivery, fates: &[Fate]) {
        let Self { text, .. } = self;
        let mut ran: Vec<_> = delivery.runs.iter().map(|run| (run.record, run.ending)).collect();
        ran.sort_by_key(|(record, _)| *record);
        let must_run = fates.iter().enumerate().filter_map(|(record, fate)| match fate {
            Fate::Runs(ending) => Some((record, *ending)),
            _ => None,
        });
        assert_eq!(ran, must_run.collect::<Vec<_>>(), "{text}: {fates:?}");
        let not_done: Vec<usize> = (0..fates.len()).filter(|record| !fates[*record].is_done(self.setup)).collect();
        assert_eq!(delivery.answer, expected::<Src>(&self.records, &not_done), "{text}: {fates:?}");
    }

    /// For an event of which not all is known: what its source will forget has run to its end.
    fn whatever_is_not_reported_is_done(&self, delivery: &Delivery, identities: &[Option<Identity>]) {
        let Ok(answer) = &delivery.answer else { return };
        let reported = identifiers(answer);
        let mut behind: Vec<String> = Vec::new();
        for (record, identity) in self.records.iter().zip(identities) {
            let identifier = Src::identifier(record);
            if identifier.as_ref().is_some_and(|identifier| reported.contains(&identifier)) {
                behind.extend(Src::group(record));
            }
            let goes_on_from_there = Src::told(&self.records, &[0, 1]).len() < 2 || Src::NAME == "kafka";
            let comes_again = identifier.is_some_and(|identifier| reported.contains(&&identifier))
                || (goes_on_from_there && Src::group(record).is_some_and(|group| behind.contains(&group)));
            let has_ended =
                self.runs.iter().any(|run| run.ending == Ending::Done && self.names.get(&run.key) == identity.as_ref());
            assert!(comes_again || has_ended, "{}: a record is forgotten: {:?}", self.text, delivery);
        }
    }
}

fn count(fates: &[Fate], has_no_identifier: bool, counts: &mut Counts) {
    counts.no_identifier += u64::from(has_no_identifier);
    counts.records += fates.len() as u64;
    for fate in fates {
        *match fate {
            Fate::Undecodable => &mut counts.undecodable,
            Fate::Keyless => &mut counts.keyless,
            Fate::NotReached => &mut counts.not_reached,
            Fate::Runs(Ending::Done) => &mut counts.fresh,
            Fate::Runs(Ending::Retryable) => &mut counts.retryable,
            Fate::Runs(Ending::Permanent) | Fate::Failed => &mut counts.failed,
            Fate::Runs(Ending::Abandoned | Ending::Panic) => &mut counts.abandoned,
            Fate::Replay => &mut counts.replays,
            Fate::Mismatch => &mut counts.mismatches,
            Fate::Conflict => &mut counts.conflicts,
        } += 1;
    }
}
