//! The command line.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand};
use idempotency_testkit::http_front::HttpKind;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    CliError, DynamoDb, OwnTable, QueueOptions, StackOptions, Trigger, build, demo, faults, invoke, local,
    operate::Operate, soak,
};

/// Effectively-once AWS Lambda functions: see them work, run them locally, invoke one, break them; and operate them.
///
/// inspect, list, resolve, evict, doctor and watch work on the table of deployed functions, at AWS or any other endpoint; estimate
/// reckons what one costs.
#[derive(Debug, Parser)]
#[command(name = "idempotency", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Do not build the functions first, as demo, local, invoke, faults and soak do under `cargo run`.
    #[arg(long, global = true)]
    no_build: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Send one charge many times, kill a sandbox, and count what was charged (the default).
    Demo,
    /// Run one function, what invokes it and what it talks to on loopback until Ctrl-C or SIGTERM.
    ///
    /// payments-api is behind an HTTP API, claims-intake gets what is sent to a queue, order-events what is put on an event bus,
    /// outbox-relay what was staged in the table. What invokes a function of your own says --trigger.
    ///
    /// DynamoDB, queues, a bus and stand-ins for what functions call are there for each: a payment provider, a carrier, a summariser that
    /// words each answer differently, and a notifier. A function finds them by PAYMENT_PROVIDER_URL, CARRIER_URL, SUMMARISER_URL and
    /// NOTIFIER_URL; --env CARRIER_URL=http://127.0.0.1:4000 points it to another one. Beside payments-api and claims-intake the outbox's
    /// relay runs, and sends the events that they stage to the bus here. For a function of your own run it as a second command: give this one
    /// --dynamodb 127.0.0.1:8000, and the other --function outbox-relay --http 127.0.0.1:3001 --endpoint-url http://127.0.0.1:8000.
    Local(Local),
    /// Invoke one function with a raw event and print its response.
    Invoke(Invoke),
    /// Break every request of every path once, in every way, and check what was promised.
    ///
    /// Each case sends one charge through the real function with one fault: a request to DynamoDB or to the payment provider is
    /// lost, applied without a reply, refused or late, or the function's process is killed or frozen there. Then a caller repeats
    /// the charge until the answer is definite. The exit status is 0 only if every case ended as promised.
    Faults(Faults),
    /// Send many messages through a queue to claims-intake while sandboxes die and replies get lost, and check every effect.
    ///
    /// Claims are sent at random, some of them more than once. The exit status is 0 only if each claim has exactly its chunks at the
    /// end, none ran again but for a crash, nothing is left in flight, and nothing went to the dead-letter queue.
    Soak(Soak),
    #[command(flatten)]
    Operate(Operate),
}

#[derive(Debug, Args)]
pub(crate) struct Local {
    /// The function: a package in functions/.
    #[arg(long, value_name = "NAME", default_value = "payments-api")]
    pub(crate) function: String,

    /// What invokes a function of your own; http if nothing is said.
    #[arg(long, value_name = "TRIGGER", value_enum)]
    trigger: Option<Trigger>,

    /// Where the function is reached: its HTTP API, queues, bus or invocations. Port 0 takes any free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:3000", value_parser = address)]
    http: SocketAddr,

    /// What is in front of the function, and so which events it gets: http-api, rest-api, alb, alb-multi-value or
    /// function-url. [default: http-api]
    #[arg(long, value_name = "KIND")]
    http_kind: Option<HttpKind>,

    #[command(flatten)]
    queue: QueueArguments,

    /// How long after a failure an asynchronous invocation is retried: one wait for each retry, such as 1s,2s. On AWS, and if nothing is
    /// said, they are 1 and 2 minutes. For the triggers eventbridge and async.
    #[arg(long, value_name = "WAIT,…", value_delimiter = ',', num_args = 1, value_parser = duration)]
    retry_after: Option<Vec<Duration>>,

    #[command(flatten)]
    dynamodb: DynamoDbArguments,

    /// Where the payment provider listens.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = address)]
    provider: SocketAddr,

    #[command(flatten)]
    tables: Tables,

    #[command(flatten)]
    environment: Environment,

    /// What happens to a request whose attempt was lost. Sets ON_ABANDONED, which payments-api reads; a function of your own says
    /// it in its attribute.
    #[arg(long, value_name = "POLICY", default_value = "rerun", value_parser = ["rerun", "reject", "probe"])]
    on_abandoned: String,

    /// What a duplicate gets while the first request is being carried out. Sets IN_FLIGHT, which payments-api reads.
    #[arg(long, value_name = "CHOICE", default_value = "conflict", value_parser = ["conflict", "wait", "accepted"])]
    in_flight: String,

    /// Where the web page listens that shows what happens here: a loopback address. Port 0 takes any free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = loopback)]
    page: SocketAddr,

    /// Serve no page.
    #[arg(long, conflicts_with = "page")]
    no_page: bool,

    /// Print the addresses as one JSON object on one line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
struct QueueArguments {
    /// The most messages that the function gets at once, for the trigger sqs. [default: 10]
    #[arg(long, value_name = "N", value_parser = positive)]
    batch_size: Option<usize>,

    /// How long a message that was received stays invisible, and so how soon one that failed comes again: such as 20s or 2m, for the
    /// trigger sqs. Not less than the function's timeout, 10s. [default: 15s; AWS advises six times the function's timeout]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    visibility_timeout: Option<Duration>,

    /// How often a message is received before it goes to the dead-letter queue, for the trigger sqs. [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_receives: Option<u32>,

    /// Use a FIFO queue, for the trigger sqs.
    #[arg(long)]
    fifo: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Invoke {
    /// The function's name, such as payments-api.
    pub(crate) function: String,

    /// The file with the event; `-` reads standard input.
    #[arg(value_name = "EVENT.json")]
    pub(crate) event: PathBuf,

    /// The DynamoDB to use instead of an empty embedded one, such as the one that `local` runs.
    #[arg(long, value_name = "URL", value_parser = url)]
    endpoint_url: Option<String>,

    /// The payment provider to use instead of an empty one, such as the one that `local` runs.
    #[arg(long, value_name = "URL", value_parser = url)]
    provider_url: Option<String>,

    #[command(flatten)]
    tables: Tables,

    #[command(flatten)]
    environment: Environment,
}

#[derive(Debug, Args)]
pub(crate) struct Faults {
    /// Only cases with this text in their name, such as reject/ or fresh/store-1/kill-after.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,

    /// Only every nth case: a sample.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub(crate) every: usize,

    /// How many stacks to run side by side.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = positive)]
    pub(crate) jobs: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// How many messages to send. The embedded engine takes longer for each the more there were.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
    pub(crate) messages: usize,

    /// How many of a hundred messages say what another one says.
    #[arg(long, value_name = "PERCENT", default_value_t = 30, value_parser = clap::value_parser!(u8).range(0..100))]
    pub(crate) duplicates: u8,

    /// How many of a hundred invocations are killed, at any of their requests.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) crashes: u8,

    /// How many of a hundred replies of the store get lost after the request was applied.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=50))]
    pub(crate) lost_replies: u8,

    /// What chance goes by. The same seed sends the same messages; what meets what is up to the machine.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
struct Environment {
    /// An environment variable for the function, which inherits none; may be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    variables: Vec<(String, String)>,
}

#[derive(Debug, Args)]
struct Tables {
    /// Create a table with string keys for a function of your own, such as invoices:invoice_id; may be repeated. (Those of the ready-made
    /// functions are there.) One that is there is taken as it is.
    #[arg(long = "create-table", value_name = "NAME:KEY[:SORT_KEY]")]
    tables: Vec<OwnTable>,
}

#[derive(Debug, Args)]
struct DynamoDbArguments {
    /// Where the embedded DynamoDB listens; or the URL of a running DynamoDB, such as DynamoDB Local, to use instead.
    #[arg(long, value_name = "ADDR|URL", default_value = "127.0.0.1:0", value_parser = dynamodb)]
    dynamodb: DynamoDb,

    /// The URL of a running DynamoDB, such as DynamoDB Local, to use instead of the embedded one.
    #[arg(long, value_name = "URL", conflicts_with = "dynamodb", value_parser = url)]
    endpoint_url: Option<String>,
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number from 1".to_owned())
}

/// `500ms`, `15s`, `2m`, `48h`, `23d`; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| DURATION.to_owned())?;
    let milliseconds = match text.get(digits.len()..) {
        Some("ms") => Some(number),
        Some("" | "s") => number.checked_mul(1_000),
        Some("m") => number.checked_mul(60_000),
        Some("h") => number.checked_mul(3_600_000),
        Some("d") => number.checked_mul(86_400_000),
        _ => None,
    };
    milliseconds.map(Duration::from_millis).ok_or_else(|| DURATION.to_owned())
}

const DURATION: &str = "expected a duration such as 500ms, 15s, 2m, 48h or 23d";

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address with a port, such as 127.0.0.1:3000".to_owned())
}

/// The page shows records and kills processes: nobody on another machine is to reach it.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    match address(text)? {
        address if address.ip().is_loopback() => Ok(address),
        _ => Err("expected a loopback address, such as 127.0.0.1:4000".to_owned()),
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn dynamodb(text: &str) -> Result<DynamoDb, String> {
    match text.parse() {
        Ok(address) => Ok(DynamoDb::Embedded(address)),
        Err(_) => match url(text) {
            Ok(url) => Ok(DynamoDb::Endpoint(url)),
            Err(_) => Err("expected an address such as 127.0.0.1:8000, or a URL".to_owned()),
        },
    }
}

pub(crate) fn url(text: &str) -> Result<String, String> {
    match reqwest::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text.to_owned()),
        _ => Err("expected a URL such as http://127.0.0.1:8000".to_owned()),
    }
}

impl Cli {
    /// Runs the command.
    ///
    /// Dropping the future ends everything that it started.
    ///
    /// # Errors
    ///
    /// [`CliError`], to be told in one line.
    pub async fn run(self) -> Result<ExitCode, CliError> {
        // Fails when a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let command = self.command.unwrap_or(Command::Demo);
        // Functions are deployed already.
        if let Command::Operate(command) = command {
            let is_endless = command.is_endless();
            return match until_stopped(async { Ok(command.run().await) }).await {
                // Stopping is how it ends.
                Err(CliError::Stopped) if is_endless => Ok(ExitCode::SUCCESS),
                ended => ended,
            };
        }
        let event = match &command {
            Command::Invoke(arguments) => Some(invoke::read_event(&arguments.event)?),
            _ => None,
        };
        if let Command::Local(arguments) = &command {
            arguments.options()?;
        }
        if !self.no_build {
            build::functions().await?;
        }
        match command {
            Command::Demo => until_stopped(demo::run()).await,
            // Stopping is how it ends.
            Command::Local(arguments) => local::run(arguments).await,
            Command::Invoke(arguments) => until_stopped(invoke::run(arguments, event.unwrap_or_default())).await,
            Command::Faults(arguments) => until_stopped(faults::run(arguments)).await,
            Command::Soak(arguments) => until_stopped(soak::run(arguments)).await,
            Command::Operate(command) => Ok(command.run().await),
        }
    }
}

/// Ends a command at a signal by dropping it, which ends the processes that it started.
async fn until_stopped(command: impl Future<Output = Result<ExitCode, CliError>>) -> Result<ExitCode, CliError> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        ended = command => ended,
        _ = interrupt.recv() => Err(CliError::Stopped),
        _ = terminate.recv() => Err(CliError::Stopped),
    }
}

impl Local {
    /// Where the page listens, if there is to be one.
    pub(crate) const fn page(&self) -> Option<SocketAddr> {
        if self.no_page { None } else { Some(self.page) }
    }

    /// # Errors
    ///
    /// When an option means nothing for the function's trigger.
    pub(crate) fn options(&self) -> Result<StackOptions, CliError> {
        if self.function == "reconcile" && self.trigger.is_none() {
            return Err(CliError::Scheduled);
        }
        let options = StackOptions {
            function: self.function.clone(),
            trigger: self.trigger,
            http: self.http,
            http_kind: self.http_kind.unwrap_or_default(),
            queue: self.queue.options(),
            retry_after: self.retry_after.clone().unwrap_or(StackOptions::RETRY_AFTER.to_vec()),
            dynamodb: match &self.dynamodb.endpoint_url {
                Some(url) => DynamoDb::Endpoint(url.clone()),
                None => self.dynamodb.dynamodb.clone(),
            },
            provider: self.provider,
            tables: self.tables.tables.clone(),
            environment: self.environment.variables.clone(),
            ..StackOptions::default()
        }
        .env("ON_ABANDONED", &self.on_abandoned)
        .env("IN_FLIGHT", &self.in_flight);
        self.check(options.trigger())?;
        Ok(options)
    }

    fn check(&self, trigger: Trigger) -> Result<(), CliError> {
        let (http, sqs) = (&[Trigger::Http][..], &[Trigger::Sqs][..]);
        let options = [
            ("--http-kind", self.http_kind.is_some(), http, "http"),
            ("--batch-size", self.queue.batch_size.is_some(), sqs, "sqs"),
            ("--visibility-timeout", self.queue.visibility_timeout.is_some(), sqs, "sqs"),
            ("--max-receives", self.queue.max_receives.is_some(), sqs, "sqs"),
            ("--fifo", self.queue.fifo, sqs, "sqs"),
            (
                "--retry-after",
                self.retry_after.is_some(),
                &[Trigger::EventBridge, Trigger::Async],
                "eventbridge or async",
            ),
        ];
        match options.into_iter().find(|(_, is_given, of, _)| *is_given && !of.contains(&trigger)) {
            Some((option, _, _, of)) => Err(CliError::OptionOfOtherTrigger {
                option,
                of,
                function: self.function.clone(),
                trigger: trigger.name(),
            }),
            None => Ok(()),
        }
    }
}

impl QueueArguments {
    fn options(&self) -> QueueOptions {
        let default = QueueOptions::default();
        QueueOptions {
            fifo: self.fifo,
            batch_size: self.batch_size.unwrap_or(default.batch_size),
            visibility_timeout: self.visibility_timeout.unwrap_or(default.visibility_timeout),
            max_receives: self.max_receives.unwrap_or(default.max_receives),
        }
    }
}

impl Invoke {
    pub(crate) fn options(&self) -> StackOptions {
        let options = StackOptions {
            function: self.function.clone(),
            tables: self.tables.tables.clone(),
            environment: self.environment.variables.clone(),
            ..StackOptions::default()
        };
        let options = match &self.endpoint_url {
            Some(url) => StackOptions { dynamodb: DynamoDb::Endpoint(url.clone()), ..options },
            None => options,
        };
        match &self.provider_url {
            Some(url) => options.env("PAYMENT_PROVIDER_URL", url),
            None => options,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_local_says_what_stands_in_for_services_and_how_to_point_to_others() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("local").unwrap().render_long_help().to_string();
        for variable in crate::callees::VARIABLES {
            assert!(help.contains(variable), "{variable} is not in {help}");
        }
        for word in ["carrier", "notifier", "summariser", "relay", "--env CARRIER_URL="] {
            assert!(help.contains(word), "{word} is not in {help}");
        }
    }

    #[test]
    fn a_duration_has_a_unit_or_is_seconds() {
        let milliseconds = |text| duration(text).map(|duration| duration.as_millis());
        let rows = [
            ("500ms", 500),
            ("15s", 15_000),
            ("15", 15_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("23d", 1_987_200_000),
            ("0", 0),
        ];
        for (text, expected) in rows {
            assert_eq!(milliseconds(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1s", "1.5s", "2w", "s2", "99999999999999999h"] {
            assert_eq!(duration(text).unwrap_err(), DURATION, "{text}");
        }
    }

    #[test]
    fn dynamodb_is_an_address_or_a_url() {
        assert!(matches!(dynamodb("127.0.0.1:8000"), Ok(DynamoDb::Embedded(_))));
        assert!(matches!(dynamodb("http://127.0.0.1:8000"), Ok(DynamoDb::Endpoint(_))));
        for text in ["8000", "localhost", "ftp://localhost"] {
            assert!(dynamodb(text).unwrap_err().contains("expected an address"), "{text}");
        }
    }
}
