//! Goal: what a client, a payment provider and an operator see is right, whatever is sent and whatever breaks.
//!
//! Method: each test starts the whole stack of its own on loopback (the deployed binary of a ready-made function under the local
//! Lambda host, in front of it an HTTP API, a queue with its event source mapping or an event bus, DynamoDB behind a fault proxy, a
//! payment provider with a ledger), acts as a client does, and counts effects, requests and stored bytes. Nothing waits for a lease to run out: a test moves the lease or the expiry
//! in the stored record, which is all that time does to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

#[macro_use]
mod every_kind;

mod batches;
mod bucket;
mod call;
mod caller;
mod claims_effects;
mod claims_intake;
mod claims_sweep;
mod concurrency;
mod crash;
mod effects_world;
mod event_samples;
mod event_world;
mod every_trigger;
mod expiry;
mod failures;
mod faults_page;
mod http_content;
mod http_contract;
mod http_kinds;
mod in_flight;
mod key_header;
mod kill_sweep;
mod lost_reply;
mod metrics;
mod order_events;
mod orders;
mod outbox;
mod policies;
mod policy;
mod propagation;
mod queue_world;
mod queues;
mod reconcile;
mod regions;
mod request_counts;
mod store_down;
mod template;
mod transfers;
mod upstream_events;
mod world;
mod zombie;
