//! The attribute macro of `lambda-idempotency`; use it from there.
//!
//! Three phases: `arguments` and `handler` parse and validate, with the files that are named after what they parse, and every
//! diagnostic's text in `diagnostics`; `expand` writes the call, with a file per kind of handler.

mod arguments;
mod choices;
mod collected;
mod diagnostics;
mod event_arguments;
mod event_parameter;
mod expand;
mod expand_event;
mod expand_function;
mod expand_http;
mod function_arguments;
mod function_parameter;
mod handler;
mod http_arguments;
mod http_parameter;
mod key;
mod kind;
mod lists;
mod parameter;
mod returned;
mod trigger;
mod written;

use proc_macro::TokenStream;

/// Makes an async function idempotent: an HTTP handler; with a trigger, such as `sqs`, a function of the records that queues, streams
/// and buses deliver; with a `key` alone any other function.
///
/// # Arguments
///
/// | argument | for | meaning |
/// |---|---|---|
/// | `operation = "create-charge"` | all | The operation's name. Mandatory, and a literal, so that renaming code never changes the identity of keys in flight. |
/// | `version = 1` | all | The operation's version. Mandatory. Raise it when the meaning of a request, of the arguments or of a message changes. |
/// | `sqs` | records | The trigger, a word that stands alone and makes this a function of records: what delivers them. `sqs`, `kinesis`, `dynamodb` (a table's stream), `kafka`, `kafka_reporting`, `eventbridge`, `sns`, `s3`, `scheduler` or `invocation`; see the sources of `lambda_idempotency::events` for what each of them needs. |
/// | `source = MySource` | records | In place of a trigger: a unit struct of your own that implements `events::Source`. |
/// | `scope = …` | HTTP | Whose keys a request uses. Mandatory: `jwt_claim("sub")`, `authorizer("tenantId")`, `api_key_id()`, `header("x-tenant-id")`, `none`, or any expression that is a `ScopeSource`. |
/// | `scope = …` | functions, records | Whose key a call or record uses. Mandatory: `tenant(&invoice.tenant)`, `none`, or any expression that implements `IntoScope`: a `Scope`, or the result of making one. |
/// | `key = …` | functions | What identifies a call, and without a trigger makes this a function. A list of parts, `[invoice.id, number = invoice.number()]`, or any expression that implements `IntoKey`: an `IdempotencyKey`, a reference to one, or the result of making one. |
/// | `key = …` | records | What identifies a record that brings no key of its own, in the same forms. Without it that is the id which the platform gave the record. |
/// | `on_abandoned = …` | all | What happens after a lost attempt: `rerun` (default), `reject`, `probe(f)`, or any expression that is an `OnAbandoned`. `f` is an async function or closure of the `Attempt` (for HTTP, of the `Attempt` and the `Request`) that asks the outside world whether the effect happened (`Result<Probed<R>, Error>`); it may use the handler's references. |
/// | `probe = f` | all | The same function, where `on_abandoned` is an expression. |
/// | `atomic` | all | A word that stands alone: the whole effect is what the handler stages (`Attempt::stage`), and commits with the result in one request. Nothing is claimed before the handler runs, so a duplicate may run it too; its writes are dropped. The handler does nothing but read and stage. |
/// | `undo = f` | all | What undoes the steps of an operation that failed for good (`Attempt::step_with_undo`), the last one first: an async function or closure of the `Undo` that gives a `Result<Undone, Error>`; it may use the handler's references. An error leaves the operation *stuck* until an operator acts. |
/// | `in_flight = …` | all | What a duplicate gets while the first request is carried out: `conflict` (default; a record comes again) or `wait(max)`; for HTTP also `accepted`, or any expression that is an `InFlight`. |
/// | `window = …` | all | How long keys mean something: any expression that is a `Window`; if not said, `Window::http()`, and for records as long as a queue and its dead-letter queue can keep a message. |
/// | `fingerprint_exclude = ["/sent_at", "/trace/id"]` | all | Places (JSON pointers, RFC 6901) of a JSON body or a message, or of a function's arguments (`/invoice/sent_at`), that do not make a request another one: members that a client sets anew on each retry. |
/// | `deadline = …` | functions | When this attempt will have ended, whatever happens: an expression that is an `EpochMillis`, in Lambda `lambda_deadline(context)`. The time of the call and the window's longest run if not said; see `lambda_idempotency::function` for what a wrong one means. |
/// | `concurrency = 4` | records | How many records of a batch are carried out side by side: any expression that is a `usize`. See `EventOperation::concurrency` for what counts if it is not said. |
/// | `linger = …` | records | How long the end of one record waits for those of others, to be stored in one request: any expression that is a `Duration`. `EventOperation::LINGER` if not said. |
/// | `on_poison = …` | records | What becomes of a record that would end the same way each time: `report` (default), `skip`, or any expression that is an `OnPoison`. |
/// | `order = …` | records | What keeps the records of `kinesis`, `kafka`, `kafka_reporting` or a source of your own in order: `source` (default), the shard or partition, or `key`, the same partition or record key. |
/// | `retain = [2xx, 4xx]` | HTTP | Which status classes are stored and replayed; all if not said. After a response of another class the next request runs, so leave a class out only if nothing happened then. |
/// | `methods = [POST, PATCH]` | HTTP | Which methods need a key; these two if not said. Others pass without protection. |
/// | `replay_headers = ["set-cookie"]` | HTTP | Headers that replays have too: `set-cookie`, `date`. All others are replayed anyway, but for those of a connection. |
///
/// `window`, `on_abandoned`, `in_flight`, what is for records only, and an HTTP handler's `scope` are evaluated once, at the first
/// request; a probe at each question. A function's `key`, `scope` and `deadline` are evaluated at each call, and those of a record when
/// its batch arrives, before anything runs, with a reference in place of each owned argument.
///
/// # An HTTP handler
///
/// The handler's arguments may be, in any order:
///
/// * values that are read from the request (`Json<T>`, `Request`, anything that implements `FromRequest`), before the key is
///   claimed: what cannot be read is answered 400 and stores nothing;
/// * one `Attempt` or `&Attempt` (or `Option<Attempt>` for a handler that also serves methods without protection);
/// * references to shared state, such as a client.
///
/// It returns `Result<R, E>` where `R` is a `lambda_http::IntoResponse` and `E` implements `http::Classify`.
///
/// It becomes a function of the same name that takes the `Idempotency` handle, the references in their order, and the request:
///
/// ```text
/// #[idempotent(operation = "create-charge", version = 1, scope = jwt_claim("sub"))]
/// async fn create_charge(Json(charge): Json<Charge>, attempt: Attempt, provider: &Provider) -> Result<Response<Body>, ChargeError> { … }
///
/// // is called as
/// create_charge(&idempotency, &provider, request).await
/// ```
///
/// # A function
///
/// The function's arguments may be, in any order:
///
/// * owned values that implement `Serialize`: they count, so that the same key with other values is noticed;
/// * one `Attempt` or `&Attempt`;
/// * references to shared state that does not count, such as a client. A reference to something that implements `Serialize` is refused,
///   because it looks like data and would silently not count: take it by value;
/// * anything that is marked `#[shared]`: handed through, owned or borrowed, and not counted.
///
/// It returns `Result<R, E>` where `R` implements `Serialize` and `DeserializeOwned` and `E` implements `function::Classify`.
///
/// The names of arguments and of a key's parts are part of what is compared and stored: give them new ones only together with a new
/// version. The function's own name is not.
///
/// It becomes a function of the same name that takes the `Idempotency` handle and all arguments but the attempt, in their order:
///
/// ```text
/// #[idempotent(operation = "send-invoice", version = 1, scope = tenant(&invoice.tenant), key = [invoice.id])]
/// async fn send_invoice(mailer: &Mailer, invoice: Invoice, attempt: Attempt) -> Result<Sent, SendError> { … }
///
/// // is called as
/// let done: Done<Sent> = send_invoice(&idempotency, &mailer, invoice).await?;
/// ```
///
/// # A function of records
///
/// The function is about one record; a batch is no concern of its own. Its arguments may be, in any order:
///
/// * one message, owned, under a plain name: anything that implements `events::FromRecord` for the source's records. That is any type
///   that implements `Deserialize` for its own data, `Delivered<T, R>` for the record around it too, and `Raw` for a payload that is no
///   JSON. It is what `scope` and `key` see;
/// * one `Attempt` or `&Attempt`;
/// * references to shared state, such as a client, which all records of a batch share. They are not looked at: a function has one
///   message only, so a reference to data cannot be taken for a part of it.
///
/// It returns `Result<R, E>` where `R` implements `Serialize` and `DeserializeOwned`, usually `()`, and `E` implements
/// `function::Classify` and `Display`, because it goes to the log.
///
/// It becomes a function of the same name that takes the `Idempotency` handle, the references in their order, and the source's event, and
/// gives the source's answer, or a `DeliveryError` for what has to be delivered again as a whole: what a Lambda runtime calls.
///
/// ```text
/// #[idempotent(sqs, operation = "take-in-claim", version = 1, scope = tenant(&claim.tenant), key = [claim.id])]
/// async fn take_in(claim: ClaimReceived, attempt: &Attempt, table: &Table) -> Result<(), IntakeError> { … }
///
/// // is called as
/// lambda_runtime::run(service_fn(|event| take_in(&idempotency, &table, event))).await
/// ```
///
/// # What it expands to
///
/// One call of what `lambda_idempotency::http::run`, `lambda_idempotency::function::run` and `lambda_idempotency::events::run` are calls
/// of too; these work without the macro.
#[proc_macro_attribute]
pub fn idempotent(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::idempotent(arguments.into(), item.into()).into()
}
