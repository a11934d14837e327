//! A bucket, as far as functions use one (Amazon S3 API Reference, "GetObject", "PutObject" with conditions, "DeleteObjects"), which notes
//! what it is asked for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinHandle};

/// The bucket's name.
pub(crate) const BUCKET: &str = "reports";

#[derive(Clone, Default)]
struct Kept {
    objects: Arc<Mutex<BTreeMap<String, (Bytes, u64)>>>,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
    trouble: Arc<Mutex<Option<(Condition, Trouble)>>>,
}

type Condition = Box<dyn FnMut(&Bytes) -> bool + Send>;

/// What befalls a write with a condition.
#[derive(Clone)]
pub(crate) enum Trouble {
    /// It is applied, and its answer is an error that clients repeat after.
    AnswerIsLost,
    /// It is never applied, and never answered.
    StaysAway(Arc<Notify>),
    /// It is applied, and never answered.
    StaysUnanswered(Arc<Notify>),
}

pub(crate) struct Bucket {
    pub(crate) url: String,
    kept: Kept,
    server: JoinHandle<()>,
}

impl Bucket {
    pub(crate) async fn start() -> Self {
        let kept = Kept::default();
        let objects = get(read).put(write);
        let routes = Router::new().route("/{bucket}", post(delete)).route("/{bucket}/{*key}", objects);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = routes.with_state(kept.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, kept, server }
    }

    /// Operations, each with its bucket and key.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.kept.asked.lock().unwrap().clone()
    }

    /// Befalls the next write with a condition of which `of` says so, and no other.
    pub(crate) fn befall(&self, trouble: Trouble, of: impl FnMut(&Bytes) -> bool + Send + 'static) {
        *self.kept.trouble.lock().unwrap() = Some((Box::new(of), trouble));
    }

    /// Whether what was to befall a write has.
    pub(crate) fn has_befallen(&self) -> bool {
        self.kept.trouble.lock().unwrap().is_none()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.kept.objects.lock().unwrap().keys().cloned().collect()
    }

    pub(crate) fn json(&self, key: &str) -> Value {
        let objects = self.kept.objects.lock().unwrap();
        serde_json::from_slice(&objects.get(key).unwrap_or_else(|| panic!("{key} is not among {:?}", objects.keys())).0)
            .unwrap()
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Kept {
    fn trouble_of(&self, bytes: &Bytes) -> Option<Trouble> {
        let mut trouble = self.trouble.lock().unwrap();
        let (of, _) = trouble.as_mut()?;
        if of(bytes) { trouble.take().map(|(_, trouble)| trouble) } else { None }
    }

    fn note(&self, operation: &str, key: &str) {
        self.asked.lock().unwrap().push((operation.to_owned(), json!({ "Bucket": BUCKET, "Key": key })));
    }
}

/// Who asks has signed it with the credentials that Lambda gives a function.
fn is_signed(headers: &HeaderMap) -> bool {
    let signed = |value: &str| value.starts_with("AWS4-HMAC-SHA256 Credential=") && value.contains("/s3/aws4_request");
    headers.get(header::AUTHORIZATION).is_some_and(|value| signed(value.to_str().unwrap()))
}

async fn read(State(kept): State<Kept>, Path((bucket, key)): Path<(String, String)>, headers: HeaderMap) -> Response {
    assert!(is_signed(&headers) && bucket == BUCKET, "{headers:?}");
    kept.note("GetObject", &key);
    match kept.objects.lock().unwrap().get(&key).cloned() {
        Some((bytes, version)) => {
            let headers = [
                (header::ETAG, format!("\"{version}\"")),
                (header::LAST_MODIFIED, "Mon, 30 Nov 2026 12:00:00 GMT".to_owned()),
            ];
            (headers, bytes).into_response()
        }
        None => {
            // That it is not there is told to those only who may list the bucket.
            kept.note("ListBucket", &key);
            StatusCode::NOT_FOUND.into_response()
        }
    }
}

async fn write(
    State(kept): State<Kept>,
    Path((bucket, key)): Path<(String, String)>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    assert!(is_signed(&headers) && bucket == BUCKET, "{headers:?}");
    kept.note("PutObject", &key);
    let has_condition = [header::IF_NONE_MATCH, header::IF_MATCH].iter().any(|name| headers.contains_key(name));
    match has_condition.then(|| kept.trouble_of(&bytes)).flatten() {
        None => kept.put(key, &headers, bytes),
        Some(Trouble::AnswerIsLost) => {
            assert!(kept.put(key, &headers, bytes).status().is_success());
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
        Some(Trouble::StaysAway(reached)) => {
            reached.notify_one();
            std::future::pending().await
        }
        Some(Trouble::StaysUnanswered(reached)) => {
            assert!(kept.put(key, &headers, bytes).status().is_success());
            reached.notify_one();
            std::future::pending().await
        }
    }
}

impl Kept {
    fn put(&self, key: String, headers: &HeaderMap, bytes: Bytes) -> Response {
        let mut objects = self.objects.lock().unwrap();
        let there = objects.get(&key).map(|(_, version)| *version);
        let asked = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let is_met = match (asked(header::IF_NONE_MATCH), asked(header::IF_MATCH)) {
            (Some(_), _) => there.is_none(),
            (_, Some(tag)) => there.is_some_and(|version| tag == format!("\"{version}\"")),
            _ => true,
        };
        if !is_met {
            return StatusCode::PRECONDITION_FAILED.into_response();
        }
        let version = there.map_or(1, |version| version + 1);
        objects.insert(key, (bytes, version));
        [(header::ETAG, format!("\"{version}\""))].into_response()
    }
}

async fn delete(State(kept): State<Kept>, Path(bucket): Path<String>, headers: HeaderMap, body: String) -> Response {
    assert!(is_signed(&headers) && bucket == BUCKET, "{headers:?}");
    let mut deleted = String::new();
    for key in body.split("<Key>").skip(1).map(|rest| rest.split_once("</Key>").unwrap().0) {
        kept.note("DeleteObject", key);
        kept.objects.lock().unwrap().remove(key);
        deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
    }
    format!("<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{deleted}</DeleteResult>").into_response()
}
