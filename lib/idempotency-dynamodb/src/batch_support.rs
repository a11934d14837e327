//! Whether batch requests are worth sending.

use std::sync::atomic::{AtomicBool, Ordering};

/// What a store has learnt about the two batch requests.
#[derive(Debug, Default)]
pub(crate) struct BatchSupport {
    /// `BatchExecuteStatement`.
    pub(crate) writes: Support,
    /// `BatchGetItem`.
    pub(crate) reads: Support,
}

/// Whether one kind of request is answered here. It is taken to be until a single request is answered where the batch was refused
/// for good; that a batch alone was refused may be for a reason that passes, such as expired credentials.
#[derive(Debug, Default)]
pub(crate) struct Support {
    missing: AtomicBool,
}

impl Support {
    pub(crate) fn is_missing(&self) -> bool {
        self.missing.load(Ordering::Relaxed)
    }

    /// Notes that it is missing, and says so once.
    pub(crate) fn note_missing(&self, request: &str, actions: &str, refusal: &str) {
        if !self.missing.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                request,
                refusal,
                "batches are refused where single requests are answered, so every record is from now on read or written by a \
                 request of its own; to have fewer requests, grant {actions} on the table"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fmt::Debug,
        sync::{Arc, Mutex},
    };

    use tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span::{Attributes, Id, Record},
    };

    use super::*;

    /// Keeps what is logged.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<String>>>);

    impl Visit for Log {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            self.0.lock().unwrap().push(format!("{}: {value:?}", field.name()));
        }
    }

    impl Subscriber for Log {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            event.record(&mut self.clone());
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn that_batches_are_refused_is_said_once_with_what_to_grant() {
        let (log, support) = (Log::default(), Support::default());
        tracing::subscriber::with_default(log.clone(), || {
            assert!(!support.is_missing());
            for _ in 0..3 {
                support.note_missing("BatchGetItem", "dynamodb:BatchGetItem", "AccessDeniedException");
                assert!(support.is_missing());
            }
        });
        let lines = log.0.lock().unwrap().clone();
        let message: Vec<_> = lines.iter().filter(|line| line.starts_with("message: ")).collect();
        let [message] = message[..] else { panic!("{lines:?}") };
        assert!(message.ends_with("grant dynamodb:BatchGetItem on the table"), "{message}");
        assert!(lines.contains(&"refusal: \"AccessDeniedException\"".to_owned()), "{lines:?}");
    }
}
