//! The macro's arguments as they were written.

use proc_macro2::{Span, TokenStream};
use syn::{
    Error, Expr, Ident, Result, Token,
    parse::{ParseStream, Parser},
};

use crate::{
    arguments::Errors,
    diagnostics, trigger,
    written::{Word, Written},
};

/// The macro's arguments as they were written.
#[derive(Default)]
pub(crate) struct Collected {
    /// Triggers; there should be one at most.
    pub(crate) words: Vec<Word>,
    pub(crate) source: Option<Expr>,
    /// Where `atomic` stands.
    pub(crate) atomic: Option<Span>,
    pub(crate) undo: Option<Expr>,
    pub(crate) operation: Option<Expr>,
    pub(crate) version: Option<Expr>,
    pub(crate) scope: Option<Expr>,
    pub(crate) on_abandoned: Option<Expr>,
    pub(crate) probe: Option<Expr>,
    pub(crate) in_flight: Option<Expr>,
    pub(crate) retain: Option<Expr>,
    pub(crate) window: Option<Expr>,
    pub(crate) methods: Option<Expr>,
    pub(crate) fingerprint_exclude: Option<Expr>,
    pub(crate) replay_headers: Option<Expr>,
    pub(crate) key: Option<Expr>,
    pub(crate) deadline: Option<Expr>,
    pub(crate) concurrency: Option<Expr>,
    pub(crate) linger: Option<Expr>,
    pub(crate) on_poison: Option<Expr>,
    pub(crate) order: Option<Expr>,
}

impl Collected {
    /// What can be read of arguments that may be faulty, up to a mistake that leaves no way on.
    pub(crate) fn of(arguments: &TokenStream) -> Self {
        let mut collected = Self::default();
        let read = |input: ParseStream<'_>| collected.read(input, &mut Errors::default());
        // The mistake is reported where the arguments are checked.
        let _ = read.parse2(arguments.clone());
        collected
    }

    /// Reads them.
    pub(crate) fn read(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> Result<()> {
        while !input.is_empty() {
            match input.parse()? {
                Written::Argument(name, _) if trigger::is_one(&name) => {
                    errors.push(Error::new(name.span(), diagnostics::TRIGGER_WITH_VALUE));
                    self.words.push(Word { text: name.to_string(), span: name.span() });
                }
                Written::Argument(name, _) if name == "atomic" => {
                    errors.push(Error::new(name.span(), diagnostics::ATOMIC_WITH_VALUE));
                }
                Written::Argument(name, value) => {
                    errors.take(self.put(&name, value));
                }
                Written::Word(word) if word.text == "atomic" => {
                    if self.atomic.replace(word.span).is_some() {
                        errors.push(Error::new(word.span, diagnostics::TWICE));
                    }
                }
                Written::Word(word) if self.place(&word.text).is_some() => {
                    errors.push(Error::new(word.span, diagnostics::NO_VALUE));
                }
                Written::Word(word) => self.words.push(word),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn put(&mut self, name: &Ident, value: Expr) -> Result<()> {
        let place =
            self.place(&name.to_string()).ok_or_else(|| Error::new(name.span(), diagnostics::UNKNOWN_ARGUMENT))?;
        match place.replace(value) {
            None => Ok(()),
            Some(_) => Err(Error::new(name.span(), diagnostics::TWICE)),
        }
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<Expr>> {
        Some(match name {
            "source" => &mut self.source,
            "operation" => &mut self.operation,
            "version" => &mut self.version,
            "scope" => &mut self.scope,
            "on_abandoned" => &mut self.on_abandoned,
            "probe" => &mut self.probe,
            "in_flight" => &mut self.in_flight,
            "retain" => &mut self.retain,
            "window" => &mut self.window,
            "methods" => &mut self.methods,
            "fingerprint_exclude" => &mut self.fingerprint_exclude,
            "replay_headers" => &mut self.replay_headers,
            "key" => &mut self.key,
            "deadline" => &mut self.deadline,
            "concurrency" => &mut self.concurrency,
            "linger" => &mut self.linger,
            "on_poison" => &mut self.on_poison,
            "order" => &mut self.order,
            "undo" => &mut self.undo,
            _ => return None,
        })
    }

    /// The arguments that only functions of records have.
    pub(crate) fn of_event(&self) -> impl Iterator<Item = &Expr> {
        [&self.concurrency, &self.linger, &self.on_poison, &self.order].into_iter().flatten()
    }
}
