//! What is logged while a test runs on one thread.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// Keeps the texts of errors.
#[derive(Clone, Default)]
pub(super) struct Errors(Arc<Mutex<Vec<String>>>);

impl Errors {
    /// How many errors begin with this name.
    pub(super) fn named(&self, name: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|text| text.starts_with(name)).count()
    }
}

impl Visit for Errors {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Errors {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() == Level::ERROR {
            event.record(&mut self.clone());
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
