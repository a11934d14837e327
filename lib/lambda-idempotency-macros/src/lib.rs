//! The attribute macro of `lambda-idempotency`; use it from there.
//!
//! Three phases, each in its file: `arguments` (with `choices` and `lists`) and `handler` parse and validate, with every diagnostic's text in
//! `diagnostics`; `expand` writes the call of `lambda_idempotency::http::run`.

mod arguments;
mod choices;
mod diagnostics;
mod expand;
mod expand_function;
mod expand_http;
mod function_arguments;
mod function_parameter;
mod handler;
mod http_arguments;
mod http_parameter;
mod key;
mod lists;
mod parameter;
mod returned;

use proc_macro::TokenStream;

/// Makes an async HTTP handler idempotent.
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `operation = "create-charge"` | The operation's name. Mandatory, and a literal, so that renaming code never changes the identity of keys in flight. |
/// | `version = 1` | The operation's version. Mandatory. Raise it when the meaning of a request changes. |
/// | `scope = …` | Whose keys a request uses. Mandatory: `jwt_claim("sub")`, `authorizer("tenantId")`, `api_key_id()`, `header("x-tenant-id")`, `none`, or any expression that is a `ScopeSource`. |
/// | `on_abandoned = …` | What happens after a lost attempt: `rerun` (default), `reject`, `probe(f)`, or any expression that is an `OnAbandoned`. `f` is an async function or closure of the `Attempt` that asks the outside world whether the effect happened (`Result<Probed<R>, Error>`); it may use the handler's references. |
/// | `probe = f` | The same function, where `on_abandoned` is an expression. |
/// | `in_flight = …` | What a duplicate gets while the first request is carried out: `conflict` (default), `wait(max)`, `accepted`, or any expression that is an `InFlight`. |
/// | `retain = [2xx, 4xx]` | Which status classes are stored and replayed; all if not said. After a response of another class the next request runs, so leave a class out only if nothing happened then. |
/// | `window = …` | How long keys mean something: any expression that is a `Window`; `Window::http()` if not said. |
/// | `methods = [POST, PATCH]` | Which methods need a key; these two if not said. Others pass without protection. |
/// | `fingerprint_exclude = ["/sent_at", "/trace/id"]` | Places of a JSON body (JSON pointers, RFC 6901) that do not make a request another one: members that a client sets anew on each retry. |
/// | `replay_headers = ["set-cookie"]` | Headers that replays have too: `set-cookie`, `date`. All others are replayed anyway, but for those of a connection. |
///
/// Expressions are evaluated once, at the first request; a probe's, at each request.
///
/// # The handler
///
/// The handler's arguments may be, in any order:
///
/// * values that are read from the request (`Json<T>`, `Request`, anything that implements `FromRequest`), before the key is
///   claimed: what cannot be read is answered 400 and stores nothing;
/// * one `Attempt` (or `Option<Attempt>` for a handler that also serves methods without protection);
/// * references to shared state, such as a client.
///
/// It returns `Result<R, E>` where `R` is a `lambda_http::IntoResponse` and `E` implements `Classify`.
///
/// # What it becomes
///
/// A function of the same name that takes the `Idempotency` handle, the references in their order, and the request:
///
/// ```text
/// #[idempotent(operation = "create-charge", version = 1, scope = jwt_claim("sub"))]
/// async fn create_charge(Json(charge): Json<Charge>, attempt: Attempt, provider: &Provider) -> Result<Response<Body>, ChargeError> { … }
///
/// // is called as
/// create_charge(&idempotency, &provider, request).await
/// ```
///
/// The expansion is one call of `lambda_idempotency::http::run` or `run_with_probe`, which work without the macro too.
#[proc_macro_attribute]
pub fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::idempotent(arguments.into(), item.into()).into()
}
