//! The ledger and what is stored under keys. Pure: the server does the waiting.

use std::collections::HashMap;

use super::answer::Answer;
use super::behaviour::take;
use super::request::{ChargeRequest, Parameters};
use super::{Behaviour, LedgerEntry, Refund};

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) behaviour: Behaviour,
    pub(super) ledger: Vec<LedgerEntry>,
    pub(super) refunds: Vec<Refund>,
    /// By account and key.
    keys: HashMap<(String, String), Entry>,
}

#[derive(Debug)]
struct Entry {
    parameters: Parameters,
    /// `None` while the first request with this key runs.
    answer: Option<Answer>,
}

/// What a charge attempt came to.
#[derive(Debug)]
pub(super) struct Attempt {
    /// What is stored under the key; `None` leaves the key free.
    pub(super) stored: Option<Answer>,
    /// What the caller gets.
    pub(super) answer: Answer,
    pub(super) charged: bool,
}

impl State {
    /// Looks the request's key up and takes it. `Err` is the answer of a request that must not charge.
    pub(super) fn begin(&mut self, request: &ChargeRequest) -> Result<(), Answer> {
        let Some(key) = request.key.clone().filter(|_| !self.behaviour.ignore_keys) else { return Ok(()) };
        let slot = (request.account.clone(), key.clone());
        match self.keys.get(&slot) {
            Some(entry) if entry.parameters != request.parameters => Err(Answer::other_parameters(&key)),
            Some(Entry { answer: Some(answer), .. }) => Err(answer.clone().replayed()),
            Some(Entry { answer: None, .. }) => Err(Answer::in_use(&key)),
            None => {
                self.keys.insert(slot, Entry { parameters: request.parameters.clone(), answer: None });
                Ok(())
            }
        }
    }

    /// Charges, or fails as the behaviour says.
    pub(super) fn attempt(&mut self, request: &ChargeRequest, now_seconds: u64) -> Attempt {
        if take(&mut self.behaviour.turn_away) {
            return Attempt { stored: None, answer: Answer::turned_away(), charged: false };
        }
        if take(&mut self.behaviour.fail_before_charging) {
            return Attempt { stored: None, answer: Answer::failed(), charged: false };
        }
        if take(&mut self.behaviour.decline) {
            let answer = Answer::declined();
            return Attempt { stored: Some(answer.clone()), answer, charged: false };
        }
        let entry = self.charge(request, now_seconds);
        let success = Answer::charged(&entry.charge());
        let failed = take(&mut self.behaviour.fail_after_charging);
        let answer = if failed { Answer::failed() } else { success.clone() };
        Attempt { stored: Some(success), answer, charged: true }
    }

    /// Stores the answer under the request's key, or frees the key.
    pub(super) fn finish(&mut self, request: &ChargeRequest, stored: Option<Answer>) {
        let Some(key) = request.key.clone() else { return };
        let slot = (request.account.clone(), key);
        // Nothing is there, or not this request's, if keys were ignored when it began.
        let Some(entry) = self.keys.get_mut(&slot).filter(|entry| entry.answer.is_none()) else { return };
        match stored {
            Some(answer) => entry.answer = Some(answer),
            None => drop(self.keys.remove(&slot)),
        }
    }

    /// The charge that was made for a key.
    pub(super) fn by_key(&self, account: &str, key: &str) -> Answer {
        let made = self.ledger.iter().find(|entry| entry.account == account && entry.key.as_deref() == Some(key));
        if let Some(entry) = made {
            return Answer::charged(&entry.charge());
        }
        // "No charge" would be a lie while a request may still charge.
        let slot = (account.to_owned(), key.to_owned());
        if self.keys.get(&slot).is_some_and(|entry| entry.answer.is_none()) {
            return Answer::in_use(key);
        }
        Answer::missing(key)
    }

    fn charge(&mut self, request: &ChargeRequest, now_seconds: u64) -> LedgerEntry {
        let Parameters { amount, currency, customer } = request.parameters.clone();
        let entry = LedgerEntry {
            id: format!("ch_{:08}", self.ledger.len() + 1),
            account: request.account.clone(),
            key: request.key.clone(),
            amount,
            currency,
            customer,
            created: now_seconds,
        };
        self.ledger.push(entry.clone());
        entry
    }
}
