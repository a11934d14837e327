//! The task that owns one sandbox from its start to its end.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use rustix::process::Signal;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

use super::environment::function_arn;
use super::invocation::{Ack, Delivery, Ending, ErrorReport, Invocation, Message, RESPONSE_LIMIT, Reply};
use super::logs::LogReaders;
use super::runtime_api::RuntimeApi;
use super::sandbox::SandboxShared;
use super::{Exit, FunctionConfig, InvokeError};
use crate::clock::{epoch_millis, since_epoch};

/// From `SIGTERM` to `SIGKILL` at shutdown: Lambda gives a runtime with extensions 500 ms ("Understanding
/// the Lambda execution environment lifecycle").
const TERM_GRACE: Duration = Duration::from_millis(500);
/// How long the last words of an ended process may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(250);

pub(super) struct Supervisor {
    pub(super) config: Arc<FunctionConfig>,
    pub(super) sandbox: Arc<SandboxShared>,
    pub(super) inbox: mpsc::UnboundedReceiver<Message>,
    pub(super) runtime_api: RuntimeApi,
    pub(super) logs: LogReaders,
    pub(super) state: State,
}

/// What the supervisor remembers between events.
pub(super) struct State {
    /// When the process must have asked for its first event; `None` once it has.
    init_deadline: Option<Instant>,
    /// Why the process did not start, if that is known better than from its exit.
    init_failure: Option<ErrorReport>,
    /// A call of the process that waits for an event.
    waiting: Option<oneshot::Sender<Delivery>>,
    /// An invocation that waits for such a call.
    pending: Option<Pending>,
    running: Option<Running>,
    /// The caller of an invocation whose process is being killed for it. It gets the time-out only after
    /// the exit: who sees it can rely on the process being gone.
    timed_out: Option<Reply>,
    /// When a process that is being shut down is killed.
    kill_at: Option<Instant>,
    shutting_down: bool,
}

struct Pending {
    invocation: Invocation,
    deadline: Instant,
}

/// An invocation that the process has.
struct Running {
    request_id: String,
    /// `None` once the caller was told that it timed out.
    reply: Option<Reply>,
    /// `None` once it has passed.
    deadline: Option<Instant>,
}

impl State {
    pub(super) fn starting(init_timeout: Duration) -> Self {
        Self {
            init_deadline: Some(Instant::now() + init_timeout),
            init_failure: None,
            waiting: None,
            pending: None,
            running: None,
            timed_out: None,
            kill_at: None,
            shutting_down: false,
        }
    }

    /// Whether the process has asked for an event, and so is past its init.
    fn started(&self) -> bool {
        self.init_deadline.is_none() && self.init_failure.is_none()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let running = self.running.as_ref().and_then(|running| running.deadline);
        // While the process starts, its own deadline counts.
        let pending = self.pending.as_ref().filter(|_| self.started()).map(|pending| pending.deadline);
        [self.init_deadline, running, pending, self.kill_at].into_iter().flatten().min()
    }
}

impl Supervisor {
    /// Runs until the process has ended and is reaped.
    pub(super) async fn run(mut self) {
        let sandbox = Arc::clone(&self.sandbox);
        let exit = loop {
            let deadline = self.state.next_deadline();
            tokio::select! {
                // What the process said before it ended comes before its end.
                biased;
                Some(message) = self.inbox.recv() => self.on_message(message),
                exit = sandbox.process.wait() => break exit,
                () = until(deadline) => self.on_deadline(),
            }
        };
        self.on_exit(exit).await;
    }

    fn on_message(&mut self, message: Message) {
        match message {
            Message::Invoke(invocation) => self.on_invoke(invocation),
            Message::Next(waiting) => self.on_next(waiting),
            Message::End { request_id, ending, ack } => {
                // A process that died meanwhile does not hear the answer.
                let _ = ack.send(self.on_end(&request_id, ending));
            }
            Message::InitError(report, ack) => {
                let _ = ack.send(self.on_init_error(report));
            }
            Message::Shutdown => {
                self.sandbox.doom();
                self.state.shutting_down = true;
                self.state.kill_at = Some(Instant::now() + TERM_GRACE);
                self.sandbox.process.signal(Signal::TERM);
            }
        }
    }

    fn on_invoke(&mut self, invocation: Invocation) {
        let deadline = Instant::now() + self.config.timeout;
        self.state.pending = Some(Pending { invocation, deadline });
        self.deliver();
    }

    fn on_next(&mut self, waiting: oneshot::Sender<Delivery>) {
        self.state.init_deadline = None;
        if let Some(running) = self.state.running.take() {
            // Not an answer, but an end: Lambda's runtimes do this only when they lost the event.
            let message = "the function asked for the next event without answering this one";
            let error_type = "Runtime.NoResponse".to_owned();
            answer(running.reply, Err(InvokeError::Handler { error_type, message: message.to_owned() }));
            self.release();
        }
        self.state.waiting = Some(waiting);
        self.deliver();
    }

    /// Hands the pending invocation to the process, if there are both.
    fn deliver(&mut self) {
        // A process that is about to end gets nothing: the event would be lost with it, unseen.
        if self.state.pending.is_none() || self.sandbox.is_doomed() {
            return;
        }
        // A call whose connection has closed is not one: the process is ending, or calls again.
        let Some(waiting) = self.state.waiting.take().filter(|waiting| !waiting.is_closed()) else { return };
        let Some(Pending { invocation, .. }) = self.state.pending.take() else { return };
        let Invocation { request_id, payload, reply } = invocation;
        let delivery = Delivery {
            request_id: request_id.clone(),
            deadline_ms: epoch_millis(since_epoch() + self.config.timeout),
            function_arn: function_arn(&self.config.name),
            trace_id: trace_id(),
            payload: payload.clone(),
        };
        let deadline = Instant::now() + self.config.timeout;
        if waiting.send(delivery).is_err() {
            self.state.pending = Some(Pending { invocation: Invocation { request_id, payload, reply }, deadline });
            return;
        }
        let running = Running { request_id, reply: Some(reply), deadline: Some(deadline) };
        self.state.running = Some(running);
    }

    fn on_end(&mut self, request_id: &str, ending: Ending) -> Ack {
        let Some(running) = self.state.running.take_if(|running| running.request_id == request_id) else {
            return Ack::UnknownRequest;
        };
        let (result, ack) = match ending {
            Ending::Response(body) => (Ok(body), Ack::Accepted),
            Ending::TooLarge(size) => {
                (Err(InvokeError::ResponseTooLarge { size, limit: RESPONSE_LIMIT }), Ack::TooLarge)
            }
            Ending::Error(ErrorReport { error_type, message }) => {
                (Err(InvokeError::Handler { error_type, message }), Ack::Accepted)
            }
        };
        // Free first: the caller may invoke again as soon as it has its answer.
        self.release();
        answer(running.reply, result);
        ack
    }

    fn on_init_error(&mut self, report: ErrorReport) -> Ack {
        self.state.init_failure = Some(report);
        self.sandbox.doom();
        // A runtime exits by itself after this call; one that does not is ended.
        self.state.init_deadline = None;
        self.state.kill_at = Some(Instant::now() + TERM_GRACE);
        Ack::Accepted
    }

    fn on_deadline(&mut self) {
        let now = Instant::now();
        if self.state.kill_at.take_if(|at| *at <= now).is_some() {
            self.sandbox.kill();
        }
        if self.state.init_deadline.take_if(|at| *at <= now).is_some() {
            let message = format!("no event was asked for within {:?}", self.config.init_timeout);
            self.state.init_failure = Some(ErrorReport { error_type: "Sandbox.Timedout".to_owned(), message });
            self.sandbox.kill();
        }
        let started = self.state.started();
        if let Some(pending) = self.state.pending.take_if(|pending| started && pending.deadline <= now) {
            // The process has not asked for an event since the last one: it hangs or is paused.
            self.time_out(Some(pending.invocation.reply));
            self.release();
        }
        if let Some(running) = &mut self.state.running
            && running.deadline.take_if(|at| *at <= now).is_some()
        {
            let reply = running.reply.take();
            self.time_out(reply);
        }
    }

    fn time_out(&mut self, reply: Option<Reply>) {
        if self.config.kill_at_deadline {
            // Its answer would come too late now, even if it came before the end.
            self.state.running = None;
            self.state.timed_out = reply;
            self.sandbox.kill();
        } else {
            answer(reply, Err(self.timed_out()));
        }
    }

    async fn on_exit(mut self, status: io::Result<ExitStatus>) {
        let exit = match status {
            Ok(status) => Exit::of(status),
            Err(error) => {
                tracing::error!(%error, pid = self.sandbox.process.pid(), "cannot wait for a function's process");
                Exit::Code(-1)
            }
        };
        let timed_out = self.timed_out();
        self.sandbox.doom();
        self.hear_last_words().await;
        self.logs.drain().await;
        // Everybody who waits for the end sees it before the invocation's answer.
        self.sandbox.exit.send_replace(Some(exit));
        answer(self.state.timed_out.take(), Err(timed_out));
        if let Some(running) = self.state.running.take() {
            let error = if self.state.shutting_down { InvokeError::ShutDown } else { InvokeError::Crashed { exit } };
            answer(running.reply, Err(error));
        }
        let started = self.state.started();
        if let Some(pending) = self.state.pending.take_if(|_| !started) {
            let ErrorReport { error_type, message } = self.state.init_failure.take().unwrap_or_else(|| ErrorReport {
                error_type: "Runtime.ExitError".to_owned(),
                message: format!("the process ended before it asked for an event: {exit}"),
            });
            answer(Some(pending.invocation.reply), Err(InvokeError::Init { error_type, message }));
        }
        // A pending invocation of a started process, or one still in the inbox, was never seen by the
        // function: its reply is dropped, and the pool gives the event to another sandbox.
    }

    /// What the process sent before it ended may still be in the connection's buffers.
    async fn hear_last_words(&mut self) {
        let patience = sleep(LAST_WORDS);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                biased;
                Some(message) = self.inbox.recv() => self.on_message(message),
                () = self.runtime_api.disconnected() => break,
                () = &mut patience => break,
            }
        }
        while let Ok(message) = self.inbox.try_recv() {
            self.on_message(message);
        }
    }

    fn timed_out(&self) -> InvokeError {
        InvokeError::TimedOut { after: self.config.timeout }
    }

    /// The sandbox can take another invocation.
    fn release(&self) {
        self.sandbox.busy.store(false, Ordering::Release);
    }
}

fn answer(reply: Option<Reply>, result: Result<Bytes, InvokeError>) {
    if let Some(reply) = reply {
        reply.send(result);
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// An X-Ray trace header that is not sampled.
fn trace_id() -> String {
    let random = Uuid::new_v4().simple().to_string();
    let (root, parent) = (random.get(..24).unwrap_or_default(), random.get(16..).unwrap_or_default());
    format!("Root=1-{:08x}-{root};Parent={parent};Sampled=0", since_epoch().as_secs())
}
