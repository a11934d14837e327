//! The stack of one test, and what a test does with it.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use idempotency_cli::{Stack, StackOptions};
use idempotency_core::{Record, Status};
use idempotency_testkit::{
    eventually,
    fault_proxy::{Fault, Gate, RecordedRequest, Rule},
    http_front::HttpKind,
    lambda::{Logs, Sandbox},
    payment_provider::Behaviour,
};
use reqwest::{
    Method,
    header::{HeaderMap, HeaderValue},
};
use serde_json::{Value, json};

/// Longer than anything takes on a slow machine; reaching it fails the test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) stack: Stack,
    http: reqwest::Client,
}

/// A request to charge.
#[derive(Clone)]
pub(crate) struct Charge {
    tenant: Option<&'static str>,
    keys: Vec<HeaderValue>,
    body: String,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Charge {
    /// 12.00 EUR, by tenant-7, under `key`.
    pub(crate) fn new(key: &str) -> Self {
        Self {
            tenant: Some("tenant-7"),
            keys: vec![HeaderValue::from_str(key).unwrap()],
            body: json!({ "amount": 1200, "currency": "EUR", "customer": "cus_42" }).to_string(),
        }
    }

    pub(crate) fn amount(self, amount: u64) -> Self {
        self.body(&json!({ "amount": amount, "currency": "EUR", "customer": "cus_42" }).to_string())
    }

    pub(crate) fn body(self, body: &str) -> Self {
        Self { body: body.to_owned(), ..self }
    }

    pub(crate) fn tenant(self, tenant: Option<&'static str>) -> Self {
        Self { tenant, ..self }
    }

    pub(crate) fn keys(self, keys: &[&str]) -> Self {
        Self { keys: keys.iter().map(|key| HeaderValue::from_str(key).unwrap()).collect(), ..self }
    }
}

impl Answer {
    pub(crate) fn is_replay(&self) -> bool {
        self.headers.get("idempotent-replayed").is_some_and(|value| value == "true")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The last part of a problem's type.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        problem["type"].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned()
    }

    /// The answer without what differs between deliveries of one response: the mark of a replay, and what the front and the status
    /// resource add.
    fn stable(mut self) -> Self {
        for name in ["idempotent-replayed", "apigw-requestid", "x-amzn-requestid", "date", "cache-control"] {
            self.headers.remove(name);
        }
        self
    }

    /// Asserts that `self` is the first delivery and `replay` the same bytes again.
    pub(crate) fn assert_replayed_by(&self, replay: &Self) {
        assert!(!self.is_replay(), "{self:?}");
        assert!(replay.is_replay(), "{replay:?}");
        let (first, replay) = (self.clone().stable(), replay.clone().stable());
        assert_eq!(first.status, replay.status);
        assert_eq!(first.headers, replay.headers);
        assert_eq!(first.body, replay.body);
    }
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(StackOptions::default()).await
    }

    pub(crate) async fn with_policy(on_abandoned: &str) -> Self {
        Self::with(StackOptions::default().env("ON_ABANDONED", on_abandoned)).await
    }

    /// A world behind this kind of front.
    pub(crate) async fn of_kind(kind: HttpKind) -> Self {
        Self::with(StackOptions { http_kind: kind, ..StackOptions::default() }).await
    }

    pub(crate) async fn with(options: StackOptions) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Far from any time that a busy machine needs, so that only a test that wants a deadline meets one.
        Self::with_timeout(StackOptions { timeout: PATIENCE, ..options }).await
    }

    /// A world whose function has the timeout of its options.
    pub(crate) async fn with_timeout(options: StackOptions) -> Self {
        let options = StackOptions { logs: Logs::Captured, ..options };
        let stack = Stack::start(options).await.unwrap();
        Self { stack, http: reqwest::Client::builder().build().unwrap() }
    }

    pub(crate) async fn stop(self) {
        self.stack.stop().await;
    }

    pub(crate) async fn charge(&self, charge: &Charge) -> Answer {
        let mut headers = HeaderMap::new();
        for key in &charge.keys {
            headers.append("Idempotency-Key", key.clone());
        }
        if let Some(tenant) = charge.tenant {
            headers.insert("x-tenant-id", HeaderValue::from_static(tenant));
        }
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let request = self.http.post(format!("{}/charges", self.stack.url())).headers(headers);
        Self::answer(request.body(charge.body.clone())).await
    }

    pub(crate) async fn get(&self, path: &str, tenant: &'static str) -> Answer {
        Self::answer(self.http.get(format!("{}{path}", self.stack.url())).header("x-tenant-id", tenant)).await
    }

    /// Sends any request to the front.
    pub(crate) async fn send(&self, method: Method, target: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let request = self.http.request(method, format!("{}{target}", self.stack.url())).body(body);
        Self::answer(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    }

    async fn answer(request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answer { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }

    /// How many charges the provider made.
    pub(crate) fn charges(&self) -> usize {
        self.stack.provider().ledger().len()
    }

    /// Charges at the provider itself under tenant-7's `key`, as another system with the same account would.
    pub(crate) async fn charge_elsewhere(&self, key: &str, amount: u64) {
        let request = self.http.post(format!("{}/v1/charges", self.stack.provider().url()));
        let request = request.header("Stripe-Account", "tenant-7").header("Idempotency-Key", key);
        let body = json!({ "amount": amount, "currency": "EUR", "customer": "cus_42" });
        assert!(request.json(&body).send().await.unwrap().status().is_success());
    }

    pub(crate) fn provider(&self, behaviour: Behaviour) {
        self.stack.provider().set_behaviour(behaviour);
    }

    pub(crate) async fn records(&self) -> Vec<Record> {
        self.stack.records().all().await.unwrap()
    }

    /// The only record.
    pub(crate) async fn record(&self) -> Record {
        let mut records = self.records().await;
        assert_eq!(records.len(), 1, "{records:?}");
        records.remove(0)
    }

    /// Sets an attribute of the only record.
    pub(crate) async fn set(&self, name: &str, value: AttributeValue) {
        self.stack.records().set(name, value).await.unwrap();
    }

    /// Does to the only record what the end of its lease does.
    pub(crate) async fn end_the_lease(&self) {
        self.record().await;
        self.stack.records().end_leases().await.unwrap();
    }

    /// Does to the only record what the end of its storage TTL does. DynamoDB has not deleted it yet.
    pub(crate) async fn end_the_storage_ttl(&self) {
        self.record().await;
        self.stack.records().end_storage_ttls().await.unwrap();
    }

    /// Deletes the only record, as an operator would.
    pub(crate) async fn delete_the_record(&self) {
        self.record().await;
        self.stack.records().delete_all().await.unwrap();
    }

    /// Requests to the table of records since the last call.
    pub(crate) fn store_requests(&self) -> Vec<RecordedRequest> {
        let requests = self.stack.proxy().requests();
        self.stack.proxy().clear_requests();
        requests.into_iter().filter(|request| request.table.as_deref() == Some(Stack::TABLE)).collect()
    }

    /// Gives a fault to the `n`th write of a record from now on: of a fresh request, the first claims and the second ends.
    pub(crate) fn fault_on_write(&self, n: u64, times: u64, fault: Fault) {
        self.stack.proxy().inject(Rule::on("PutItem").table(Stack::TABLE).nth(n).times(times).fault(fault));
    }

    /// Holds the write that gives the record this status, of this attempt, and its repetitions.
    pub(crate) fn hold(&self, status: Status, attempt: u32) -> Gate {
        let gate = Gate::new();
        let attempt = attempt.to_string();
        let rule = Rule::on("PutItem").table(Stack::TABLE).forever().when(move |request| {
            let item = &request.body["Item"];
            item["status"]["S"] == status.as_str() && item["attempt"]["N"] == attempt
        });
        self.stack.proxy().inject(rule.fault(Fault::Hold(gate.clone())));
        gate
    }

    /// The sandbox at work.
    pub(crate) fn busy_sandbox(&self) -> Sandbox {
        let mut busy: Vec<_> = self.stack.function().sandboxes().into_iter().filter(Sandbox::is_busy).collect();
        assert_eq!(busy.len(), 1);
        busy.remove(0)
    }

    /// Waits until the provider has made this many charges.
    pub(crate) async fn charged(&self, count: usize) {
        eventually(PATIENCE, async || (self.charges() >= count).then_some(())).await.unwrap();
    }

    /// Waits until the function has sent such a request to its store.
    pub(crate) async fn asked(&self, such: impl Fn(&RecordedRequest) -> bool) {
        let asked = async || self.stack.proxy().requests().iter().any(&such).then_some(());
        eventually(PATIENCE, asked).await.unwrap();
    }

    /// The path that a `Location` means in an answer to a request for `path`.
    pub(crate) fn resolve(&self, path: &str, location: &str) -> String {
        let base = reqwest::Url::parse(self.stack.url()).unwrap().join(path).unwrap();
        base.join(location).unwrap().path().to_owned()
    }

    /// What the function logged, in one text.
    pub(crate) fn log(&self) -> String {
        self.stack.function().logs().iter().map(|line| format!("{line:?}\n")).collect()
    }
}
