//! SIGKILL before and after every single request that `claims-intake` makes for a claim of 58 chunks, to its store, the summariser and the
//! notifier.

use std::collections::BTreeSet;

use futures::future::join_all;
use idempotency_cli::{QueueOptions, Relay, RelayOptions};
use idempotency_core::Status;
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, FaultProxy, Gate, RecordedRequest, Rule},
    lambda::Logs,
};
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    queue_world::{QueueWorld, claim, document},
    world::PATIENCE,
};

const CHUNKS: usize = 58;

/// How many stacks work at once.
const STACKS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Callee {
    Store,
    Summariser,
    Notifier,
}

/// One crash.
#[derive(Clone, Copy, Debug)]
struct Case {
    callee: Callee,
    /// Which of the requests to it, from 1.
    nth: u64,
    /// Whether it is applied before the crash, and its reply never seen; else it is on its way, and arrives when all is over.
    is_applied: bool,
}

impl Callee {
    const ALL: [Self; 3] = [Self::Store, Self::Summariser, Self::Notifier];

    const fn proxy(self, world: &QueueWorld) -> &FaultProxy {
        match self {
            Self::Store => world.stack.proxy(),
            Self::Summariser => world.stack.summariser_proxy(),
            Self::Notifier => world.stack.notifier_proxy(),
        }
    }
}

impl QueueWorld {
    fn forget_requests(&self) {
        for callee in Callee::ALL {
            callee.proxy(self).clear_rules();
            callee.proxy(self).clear_requests();
        }
    }

    /// Waits until there are `messages` fewer in the queue than were sent, and sends none.
    async fn redelivered(&self, deleted: u64) {
        self.come_again();
        self.deleted(deleted).await;
    }
}

/// All wordings of a summary that somebody was sent.
fn wordings(requests: &[RecordedRequest]) -> BTreeSet<String> {
    fn collect(json: &Value, into: &mut BTreeSet<String>) {
        match json {
            Value::Object(members) => members.iter().for_each(|(name, member)| match (name.as_str(), member) {
                ("summary", Value::Object(value)) => into.extend(value["S"].as_str().map(str::to_owned)),
                // A staged event is JSON in a string.
                ("body", Value::Object(value)) => {
                    let event: Value = serde_json::from_str(value["S"].as_str().unwrap()).unwrap();
                    into.insert(event["summary"].as_str().unwrap().to_owned());
                }
                (_, member) => collect(member, into),
            }),
            Value::Array(members) => members.iter().for_each(|member| collect(member, into)),
            _ => {}
        }
    }
    let mut wordings = BTreeSet::new();
    requests.iter().for_each(|request| collect(&request.body, &mut wordings));
    wordings
}

/// What is stored of a claim when its attempt crashes.
#[derive(Debug)]
struct Crash {
    has_summary: bool,
    has_told: bool,
}

impl QueueWorld {
    /// What is stored of a claim beyond these records and what stands beside them. Its row and its event are there if its record says
    /// so, and not otherwise.
    async fn crashed(&self, name: &str, known: usize, known_beside: usize) -> Crash {
        let records = self.stack.records().all().await.unwrap();
        let completed = records.iter().filter(|record| record.status == Status::Completed).count() - known;
        let is_of = |json: &&Value| json["claim_id"] == name;
        let (rows, events) = (self.claims().await, self.events().await);
        let committed = (rows.iter().filter(is_of).count(), events.iter().filter(is_of).count());
        // The marker's record is completed first.
        let (has_told, expected) = (completed > 0, usize::from(completed == 2));
        assert_eq!(committed, (expected, expected), "{name}: {records:?}");
        let has_summary = self.stack.records().beside().await.unwrap().len() > known_beside;
        Crash { has_summary, has_told }
    }
}

/// A crash, the retries after it, and what must be true then.
async fn crash(world: &QueueWorld, name: &str, case: Case) {
    let deleted = world.stack.mapping().unwrap().counts().deleted;
    let message = claim(name, &document(CHUNKS));
    let known = world.stack.records().all().await.unwrap().len();
    let known_beside = world.stack.records().beside().await.unwrap().len();
    world.forget_requests();
    let gate = Gate::new();
    let fault = if case.is_applied { Fault::HoldAfter(gate.clone()) } else { Fault::Hold(gate.clone()) };
    case.callee.proxy(world).inject(Rule::any().nth(case.nth).fault(fault));
    world.send(&message);
    timeout(PATIENCE, gate.reached()).await.unwrap_or_else(|_| panic!("{case:?}: {:?}", world.stack.function().logs()));
    world.kill().await;
    let stored = world.crashed(name, known, known_beside).await;
    case.callee.proxy(world).clear_rules();
    world.stack.records().end_leases().await.unwrap();

    world.redelivered(deleted + 1).await;
    world.assert_taken_in_once(name, CHUNKS).await;
    let asked = [Callee::Summariser, Callee::Notifier].map(|callee| callee.proxy(world).requests().len());
    for (asked, is_stored) in asked.into_iter().zip([stored.has_summary, stored.has_told]) {
        // What was stored is not asked for again; what was not may have been asked for in vain.
        assert!(asked == 1 || (asked == 2 && !is_stored), "{case:?}: {asked} requests, {stored:?}");
    }
    // What was on its way arrives after all.
    gate.open();
    let arrived = async || {
        let held = case.callee.proxy(world).requests().into_iter().find(|request| request.fault.is_some());
        held.unwrap().status
    };
    eventually(PATIENCE, arrived).await.unwrap();
    world.assert_taken_in_once(name, CHUNKS).await;
    let seen = wordings(&world.stack.proxy().requests());
    assert_eq!(seen.len(), 1, "{case:?}: {seen:?}");

    world.forget_requests();
    world.send(&message);
    world.deleted(deleted + 2).await;
    let operations: Vec<_> = world.stack.proxy().requests().into_iter().map(|request| request.operation).collect();
    assert_eq!(operations, ["PutItem"], "{case:?}: a replay asks for its record alone");
    assert_eq!(
        (Callee::Summariser.proxy(world).requests(), Callee::Notifier.proxy(world).requests()),
        (vec![], vec![])
    );
    world.assert_taken_in_once(name, CHUNKS).await;
}

/// The requests of a claim that nothing disturbs.
async fn undisturbed(world: &QueueWorld) -> [Vec<String>; 3] {
    world.send(&claim("CLM-0", &document(CHUNKS)));
    world.deleted(1).await;
    world.assert_taken_in_once("CLM-0", CHUNKS).await;
    Callee::ALL.map(|callee| callee.proxy(world).requests().into_iter().map(|request| request.operation).collect())
}

async fn relay(world: &QueueWorld) -> Relay {
    world.stack.relay(RelayOptions { logs: Logs::Discard, ..RelayOptions::default() }).await.unwrap()
}

/// The claims that the bus was told of, each as often as it was.
async fn told(relay: &Relay, claims: usize) -> Vec<String> {
    let events = async || Some(relay.bus_events().messages()).filter(|events| events.len() >= claims);
    let events = eventually(PATIENCE, events).await.unwrap();
    let details = events.iter().map(|event| serde_json::from_str::<Value>(&event.body).unwrap()["detail"].clone());
    let mut told: Vec<_> = details.map(|detail| detail["claim_id"].as_str().unwrap().to_owned()).collect();
    told.sort();
    told
}

#[tokio::test]
async fn a_claim_has_58_chunks_one_wording_one_notification_and_one_event_wherever_its_attempt_is_killed() {
    let first = QueueWorld::start().await;
    let requests = undisturbed(&first).await;
    first.stop().await;
    let store = [
        // The claim; whether it is known; the summary; the chunks; the notification's marker; the end with the claim's row and its event.
        &["PutItem", "GetItem", "PutItem"][..],
        &["BatchWriteItem"; 3],
        &["PutItem", "PutItem", "TransactWriteItems"],
    ];
    assert_eq!(requests, [store.concat(), vec!["POST /v1/summaries"], vec!["POST /v1/notifications"]]);
    let mut cases = Vec::new();
    for (callee, requests) in Callee::ALL.into_iter().zip(requests) {
        for nth in 1..=requests.len() as u64 {
            cases.extend([false, true].map(|is_applied| Case { callee, nth, is_applied }));
        }
    }
    assert_eq!(cases.len(), 2 * (9 + 1 + 1));

    let part = async |cases: &[Case]| {
        let world = QueueWorld::with(QueueOptions::default()).await;
        let relay = relay(&world).await;
        for (number, case) in cases.iter().enumerate() {
            crash(&world, &format!("CLM-{number:02}"), *case).await;
        }
        let names: Vec<_> = (0..cases.len()).map(|number| format!("CLM-{number:02}")).collect();
        assert_eq!(told(&relay, cases.len()).await, names, "each once: nothing has disturbed the relay");
        let records = world.stack.records().all().await.unwrap();
        assert_eq!(records.len(), 2 * cases.len(), "records and markers");
        assert!(records.iter().all(|record| record.status == Status::Completed));
        assert_eq!(world.dead_letters(), 0);
        relay.stop().await;
        world.stop().await;
    };
    join_all(cases.chunks(cases.len().div_ceil(STACKS)).map(part)).await;
}
