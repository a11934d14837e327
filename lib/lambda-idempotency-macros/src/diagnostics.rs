//! Every message that the macro gives, in one place.

pub(crate) const OPERATION_MISSING: &str = "say which operation this is: `operation = \"create-charge\"`. The name is part of every stored record; it does not \
     follow the function's name, so that renaming code never changes the identity of keys in flight";

pub(crate) const VERSION_MISSING: &str = "say which version of the operation this is: `version = 1`. Raise it when the meaning of a request changes, so that new \
     requests never meet records of the old kind";

pub(crate) const SCOPE_MISSING: &str = "say whose keys a request uses: `scope = jwt_claim(\"sub\")`, `authorizer(\"tenantId\")`, `api_key_id()` or \
     `header(\"x-tenant-id\")`. Without a scope one caller could read another's stored response; if there is only one caller, \
     write `scope = none`";

pub(crate) const OPERATION_LITERAL: &str =
    "the operation must be a string literal of 1 to 64 letters, digits, '-', '_' and '.'";

pub(crate) const VERSION_LITERAL: &str = "the version must be an integer literal from 1 to 4294967295";

pub(crate) const UNKNOWN_ARGUMENT: &str = "unknown argument; `idempotent` takes `operation`, `version`, `scope`, `on_abandoned`, `probe`, `undo`, `in_flight`, `retain`, \
     `window`, `methods`, `fingerprint_exclude`, `replay_headers`, `key`, `deadline` and the word `atomic`, and for records a trigger, `source`, `concurrency`, \
     `linger`, `on_poison` and `order`";

pub(crate) const TWICE: &str = "this argument stands twice";

pub(crate) const METHODS: &str = "write the methods as a list of their names: `methods = [POST, PATCH]`";

pub(crate) const NO_METHODS: &str =
    "an operation without protected methods protects nothing; leave `methods` out for `[POST, PATCH]`";

pub(crate) const FINGERPRINT_EXCLUDE: &str = "write the excluded places of a JSON body as a list of JSON pointers in quotes: `fingerprint_exclude = [\"/sent_at\", \
     \"/trace/id\"]`";

pub(crate) const NO_FINGERPRINT_EXCLUDE: &str =
    "an empty list excludes nothing; leave `fingerprint_exclude` out, or name a place, such as `\"/sent_at\"`";

pub(crate) const POINTER_ROOT: &str =
    "the empty JSON pointer means the whole body, and then any request would do; name a member, such as `\"/sent_at\"`";

pub(crate) const POINTER_SLASH: &str = "a JSON pointer (RFC 6901) begins with `/`: the member `sent_at` is `\"/sent_at\"`, `id` in `trace` is `\"/trace/id\"`";

pub(crate) const POINTER_ESCAPE: &str =
    "in a JSON pointer (RFC 6901) `~` is written `~0`, and a `/` that belongs to a name `~1`";

pub(crate) const REPLAY_HEADERS: &str =
    "write the headers as a list of names in quotes: `replay_headers = [\"set-cookie\"]`";

pub(crate) const NO_REPLAY_HEADERS: &str =
    "an empty list allows nothing; leave `replay_headers` out, or write `[\"set-cookie\"]` or `[\"date\"]`";

pub(crate) const HEADER_OF_A_CONNECTION: &str =
    "this header belongs to one connection (RFC 9110 section 7.6.1) and cannot be replayed";

pub(crate) const HEADER_REPLAYED_ANYWAY: &str =
    "only `set-cookie` and `date` are held back from replays; this header is replayed anyway";

pub(crate) const ARGUMENT_ATTRIBUTE: &str = "an idempotent handler's arguments cannot have attributes, but for `#[shared]` on a function with a `key` or a trigger";

pub(crate) const NOT_PLAIN: &str =
    "an idempotent handler must be a plain `async fn`, without `const`, `unsafe` or `extern`";

pub(crate) const NOT_A_FUNCTION: &str = "`#[idempotent]` goes on an `async fn`";

pub(crate) const NOT_ASYNC: &str =
    "an idempotent handler must be an `async fn`: the key is claimed before it and completed after it";

pub(crate) const GENERIC: &str = "an idempotent handler cannot be generic: its stored results belong to one operation. Write one handler per type, or call \
     `lambda_idempotency::http::run` yourself";

pub(crate) const GENERIC_FUNCTION: &str = "an idempotent function cannot be generic: its stored results are of one type and belong to one operation. Write one function \
     per type, or call `lambda_idempotency::function::run` yourself";

pub(crate) const LIFETIME: &str = "an idempotent function has no lifetime parameters: leave them out, every reference gets its own. What it returns is stored and \
     read again, so it cannot borrow";

pub(crate) const RECEIVER: &str =
    "an idempotent handler cannot be a method; take `&self`'s state as a reference argument of a free function";

pub(crate) const MUTABLE_REFERENCE: &str =
    "shared state must be a shared reference (`&T`): duplicates of a request run concurrently";

pub(crate) const REFERENCE_TO_EXTRACTED: &str =
    "take this by value: references are shared state that the caller passes in";

pub(crate) const REFERENCE_PATTERN: &str = "give this reference a plain name, so that it can be passed on";

pub(crate) const IMPL_TRAIT: &str =
    "this argument needs a concrete type: it is read from the request, or is shared state behind a `&`";

pub(crate) const TWO_ATTEMPTS: &str = "a handler has one `Attempt`";

pub(crate) const NO_RESULT: &str =
    "an idempotent handler returns `Result<R, E>`: the error says what became of the effect (see `Classify`)";

pub(crate) const PROBE_OF_WHAT: &str = "say whom to ask about a lost attempt: `on_abandoned = probe(find_charge)`, an async function of the `Attempt` and the \
     `Request` that gives `Result<Probed<R>, Error>`; a closure may use the handler's references: \
     `probe(|attempt, request| provider.find(attempt, request))`";

pub(crate) const TWO_PROBES: &str = "`on_abandoned = probe(…)` names a probe already";

pub(crate) const PROBE_WITHOUT_POLICY: &str = "nobody would ask this probe: say `on_abandoned = probe(f)`, or give `on_abandoned` an expression that can be \
     `OnAbandoned::Probe`";

pub(crate) const WAIT_HOW_LONG: &str = "say how long a duplicate waits: `in_flight = wait(Duration::from_secs(5))`; it never waits beyond its own invocation";

pub(crate) const RETAIN: &str = "write the status classes whose responses are stored: `retain = [2xx, 4xx]`";

pub(crate) const RETAIN_NOTHING: &str =
    "a handler whose responses are never stored is run by every duplicate; leave `retain` out to store every response";

pub(crate) const SCOPE_OF_FUNCTION_MISSING: &str = "say whose key a call uses: `scope = tenant(&invoice.tenant)`, or any expression that is a `Scope` or gives one. Without a \
     scope one tenant could get another's stored result; if there is only one, write `scope = none`";

pub(crate) const SCOPE_OF_HTTP: &str = "this reads the scope from an HTTP request, and with a `key` this is a function: write `tenant(&invoice.tenant)` or any \
     expression that is a `Scope`; an HTTP handler's key comes with the request, so leave `key` out there";

pub(crate) const SCOPE_OF_FUNCTION: &str = "`tenant(…)` is for functions, which have a `key` too; an HTTP handler's scope is found in the request: `jwt_claim(\"sub\")`, \
     `authorizer(\"tenantId\")`, `api_key_id()`, `header(\"x-tenant-id\")`";

pub(crate) const METHODS_OF_FUNCTION: &str =
    "`methods` is for HTTP handlers; with a `key` this is a function, and every call of it is protected";

pub(crate) const REPLAY_HEADERS_OF_FUNCTION: &str =
    "`replay_headers` is for HTTP handlers; with a `key` this is a function, whose result has no headers";

pub(crate) const RETAIN_OF_FUNCTION: &str = "`retain` is for HTTP handlers; with a `key` this is a function: every value is stored, and its error says by `Classify` what else \
     is";

pub(crate) const ACCEPTED_OF_FUNCTION: &str = "`accepted` answers 202, which is for HTTP handlers; with a `key` this is a function: write `conflict` or \
     `wait(Duration::from_secs(5))`";

pub(crate) const IN_FLIGHT_OF_FUNCTION: &str =
    "write what a duplicate of a call in flight gets: `conflict`, or `wait(Duration::from_secs(5))` for the result";

pub(crate) const DEADLINE_OF_HTTP: &str =
    "`deadline` is for functions, which have a `key` too; an HTTP handler's deadline comes with the Lambda invocation";

pub(crate) const KEY_OF_NOTHING: &str =
    "a key of nothing would be shared by all calls; name what identifies the call: `key = [invoice.id]`";

pub(crate) const KEY_PART_NAME: &str = "give this part of the key a name, which must stay when the code changes: `id = invoice.id()`; only a variable or a field is \
     its own name";

pub(crate) const KEY_PART_TWICE: &str =
    "this part stands twice in the key; give each a name of its own: `name = expression`";

pub(crate) const ARGUMENT_NAME: &str =
    "give this argument a plain name: arguments count by their names, as a JSON object";

pub(crate) const BORROWED_TEXT: &str = "take `String`, so that this counts as part of the call, or mark the argument `#[shared]` if it is state that does not count. (A \
     reference is shared state, and the same key with another text would not be noticed.)";

pub(crate) const BORROWED_LIST: &str = "take `Vec<T>`, so that this counts as part of the call, or mark the argument `#[shared]` if it is state that does not count. (A \
     reference is shared state, and the same key with another list would not be noticed.)";

pub(crate) const BORROWED_DATA: &str = "this reference is to data that could be part of the call and would not count: take it by value, so that the same key with other data is \
     noticed, or mark the argument `#[shared]` if it is state that does not count";

pub(crate) const BORROWED_RESULT: &str = "this result is stored and read again for duplicates, so it must own its data: `String` for `&str`, `Vec<T>` for `&[T]`";

pub(crate) const TRAIT_OBJECT: &str = "a trait object has no size and cannot be passed by value: take `&dyn Trait` as shared state, or a concrete type that counts as \
     part of the call";

pub(crate) const OPTIONAL_ATTEMPT: &str = "an idempotent function always has an attempt: take `Attempt`";

pub(crate) const SHARED_TAKES_NOTHING: &str =
    "`#[shared]` stands alone: the argument is handed through and does not count as part of the call";

pub(crate) const NO_VALUE: &str = "this argument needs a value: `name = value`";

/// A word that stands alone and is no trigger, and the one that was probably meant.
pub(crate) fn unknown_trigger(meant: Option<&str>) -> String {
    const TRIGGERS: &str = "`sqs`, `kinesis`, `dynamodb`, `kafka`, `kafka_reporting`, `eventbridge`, `sns`, `s3`, `scheduler` and `invocation`, \
         or `source = MySource` for one of your own";
    match meant {
        Some(meant) => format!("unknown trigger; did you mean `{meant}`? There are {TRIGGERS}"),
        None => format!("unknown trigger; there are {TRIGGERS}"),
    }
}

pub(crate) const TRIGGER_WITH_VALUE: &str = "a trigger stands alone, without a value";

pub(crate) const TWO_TRIGGERS: &str =
    "a function of records has one trigger; write a function for each, which may call the same one";

pub(crate) const SOURCE: &str =
    "name a unit struct that implements `lambda_idempotency::events::Source`: `source = MySource`";

pub(crate) const OF_EVENT: &str =
    "this argument is for a function of records; say what delivers them by a trigger, such as `sqs`";

pub(crate) const SCOPE_OF_EVENT_MISSING: &str = "say whose records these are: `scope = tenant(&claim.tenant)`, from the message, or any expression that is a `Scope` or gives one. \
     Without a scope one tenant's record could be taken for another's; if there is only one, write `scope = none`";

pub(crate) const SCOPE_OF_HTTP_FOR_EVENT: &str = "this reads the scope from an HTTP request, and with a trigger this is a function of records: write `tenant(&claim.tenant)`, from the \
     message, or any expression that is a `Scope`";

pub(crate) const METHODS_OF_EVENT: &str =
    "`methods` is for HTTP handlers; with a trigger this is a function of records, and each of them is protected";

pub(crate) const REPLAY_HEADERS_OF_EVENT: &str =
    "`replay_headers` is for HTTP handlers; with a trigger this is a function of records, whose results nobody is sent";

pub(crate) const RETAIN_OF_EVENT: &str = "`retain` is for HTTP handlers; with a trigger this is a function of records: every value is stored, and its error says by \
     `Classify` what else is";

pub(crate) const DEADLINE_OF_EVENT: &str = "leave `deadline` out: with a trigger this is a function of records, and all attempts of an event end with the Lambda invocation that \
     brought it";

pub(crate) const ACCEPTED_OF_EVENT: &str = "`accepted` answers 202, which is for HTTP handlers; with a trigger this is a function of records: write `conflict`, after which the \
     record comes again, or `wait(Duration::from_secs(5))`";

pub(crate) const CONCURRENCY: &str =
    "at least one record at a time is carried out: `concurrency = 1` is one after the other";

pub(crate) const ORDER: &str = "write what keeps records in order: `order = source`, all of a shard or partition, or `order = key`, only those of the same partition \
     or record key";

pub(crate) const ORDER_WITHOUT_KEYS: &str = "records of this source have no key to be kept in order by, so `order` is for `kinesis`, `kafka`, `kafka_reporting` and sources of \
     your own; a FIFO queue's groups and a table's stream keep their order anyway";

pub(crate) const GENERIC_EVENT: &str = "a function of records cannot be generic: its stored results are of one type and belong to one operation. Write one function per \
     type, or call `lambda_idempotency::events::run` yourself";

pub(crate) const MESSAGE_NAME: &str = "a function of records takes one message, under a plain name, by which `scope` and `key` mean it: `claim: Claim`. Its type is \
     read from the record as it is, without `Json(…)`";

pub(crate) const TWO_MESSAGES: &str = "a function of records takes one message, and this is a second one: take shared state by reference, and put what belongs to the \
     message into one type";

pub(crate) const NO_MESSAGE: &str =
    "a function of records takes one message by value, such as `claim: Claim`; references are shared state";

pub(crate) const MESSAGE_BY_REFERENCE: &str = "a function of records takes one message by value, and a reference is shared state: if this is the message, take it without `&`";

pub(crate) const SHARED_BY_VALUE: &str =
    "records of an event are carried out side by side, so what they share is a reference: take `&T`";

pub(crate) const ATOMIC_WITH_VALUE: &str = "`atomic` stands alone, without a value";

pub(crate) const ATOMIC_IS_NEVER_ABANDONED: &str = "an attempt of an atomic operation has committed or nothing has happened, so it is never abandoned: leave `on_abandoned` and \
     `probe` out";

pub(crate) const ATOMIC_HAS_NO_STEPS: &str =
    "an atomic operation has no effect but what it stages, so there are no steps to undo: leave `atomic` or `undo` out";

pub(crate) const ATOMIC_IS_NEVER_IN_FLIGHT: &str = "nothing is claimed before an atomic operation commits, so none of its duplicates finds it in flight: leave `in_flight` out";
