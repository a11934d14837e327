use std::{collections::VecDeque, sync::Mutex};

use serde_json::Value;

use super::{Fault, ProxiedRequest};
use crate::locked::lock;

/// A request that came to the proxy.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The operation, such as `PutItem`.
    pub operation: String,
    /// The table, if the request names one.
    pub table: Option<String>,
    /// The decoded JSON body; `Null` if it is not JSON.
    pub body: Value,
    /// What was done to it.
    pub fault: Option<Fault>,
    /// The HTTP status that the proxy answered; `None` while it has not, and when it closed the
    /// connection instead.
    pub status: Option<u16>,
}

/// The requests in arrival order.
#[derive(Debug, Default)]
pub(super) struct RequestLog(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    next_id: u64,
    /// By growing id.
    requests: VecDeque<(u64, RecordedRequest)>,
    /// The older ones are forgotten.
    kept: Option<usize>,
}

impl Entries {
    fn forget_the_oldest(&mut self) {
        let kept = self.kept.unwrap_or(usize::MAX);
        self.requests.drain(..self.requests.len().saturating_sub(kept));
    }
}

impl RequestLog {
    /// Records an arrival; the id is for [`RequestLog::answered`].
    pub(super) fn arrived(&self, request: ProxiedRequest, fault: Option<Fault>) -> u64 {
        let ProxiedRequest { operation, table, body } = request;
        let mut entries = lock(&self.0);
        let id = entries.next_id;
        entries.next_id += 1;
        entries.requests.push_back((id, RecordedRequest { operation, table, body, fault, status: None }));
        entries.forget_the_oldest();
        id
    }

    /// Keeps so many of the newest requests from now on.
    pub(super) fn keep(&self, kept: usize) {
        let mut entries = lock(&self.0);
        entries.kept = Some(kept);
        entries.forget_the_oldest();
    }

    /// Notes the answer, unless the request was forgotten in the meantime.
    pub(super) fn answered(&self, id: u64, status: u16) {
        let mut entries = lock(&self.0);
        let Ok(at) = entries.requests.binary_search_by_key(&id, |(id, _)| *id) else { return };
        if let Some((_, request)) = entries.requests.get_mut(at) {
            request.status = Some(status);
        }
    }

    pub(super) fn all(&self) -> Vec<RecordedRequest> {
        lock(&self.0).requests.iter().map(|(_, request)| request.clone()).collect()
    }

    pub(super) fn clear(&self) {
        lock(&self.0).requests.clear();
    }
}
