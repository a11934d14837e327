//! The page's files and its API.

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, deeds::Press, guard::HEADERS, rows};

/// How long an answer waits for something to tell. The countdowns of the rows are the page's own.
const PATIENCE: Duration = Duration::from_secs(1);

const DOCUMENT: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

type Page = State<Arc<Shared>>;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let api = Router::new()
        .route("/api/state", get(state))
        .route("/api/entries/{id}", get(entry))
        .route("/api/press", post(press))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), only_the_page));
    Router::new()
        .route("/", get(document))
        .route("/page.js", get(async || ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)))
        .route("/page.css", get(async || ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)))
        .merge(api)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), only_this_host))
        .layer(middleware::map_response(with_headers))
        .with_state(shared)
}

async fn only_this_host(State(page): Page, request: Request, next: Next) -> Response {
    match page.guard.check_host(request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, why)) => refusal(status, why),
    }
}

async fn only_the_page(State(page): Page, request: Request, next: Next) -> Response {
    match page.guard.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, why)) => refusal(status, why),
    }
}

async fn with_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn refusal(status: StatusCode, why: impl Into<String>) -> Response {
    (status, Json(json!({ "error": why.into() }))).into_response()
}

/// Hexadecimal digits need no escaping.
async fn document(State(page): Page) -> Response {
    let document = DOCUMENT.replace("{{token}}", page.guard.token());
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], document).into_response()
}

#[derive(Deserialize)]
struct After {
    /// The version that the page has seen; 0 for all.
    #[serde(default)]
    after: u64,
}

/// All that the page shows, as soon as there is something new on the timeline, and after a second else.
async fn state(State(page): Page, Query(After { after }): Query<After>) -> Json<Value> {
    let (entries, version, oldest) = page.timeline.since(after, PATIENCE).await;
    let table = match rows::read(page.deeds.store()).await {
        Ok(table) => table,
        Err(error) => json!({ "error": error }),
    };
    let mut state = page.deeds.state();
    if let Some(members) = state.as_object_mut() {
        members.extend([
            ("entries".to_owned(), entries.into()),
            ("version".to_owned(), version.into()),
            ("oldest".to_owned(), oldest.into()),
            ("table".to_owned(), table),
        ]);
    }
    Json(state)
}

/// The event and the answer of an entry: the one place that tells them.
async fn entry(State(page): Page, Path(id): Path<u64>) -> Response {
    let shown = page.timeline.look(id, |invocation| {
        let event = invocation.event().map(|event| String::from_utf8_lossy(event).into_owned());
        json!({ "event": event, "answer": invocation.answer() })
    });
    match shown {
        Some(shown) => Json(shown).into_response(),
        None => refusal(StatusCode::NOT_FOUND, format!("there is no invocation {id} on the timeline, or not any more")),
    }
}

async fn press(State(page): Page, body: axum::body::Bytes) -> Response {
    let press = match serde_json::from_slice::<Press>(&body) {
        Ok(press) => press,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, format!("this is no button: {error}")),
    };
    match page.deeds.press(press).await {
        Ok(said) => Json(json!({ "said": said })).into_response(),
        Err(refused) => refusal(refused.status(), refused.to_string()),
    }
}
