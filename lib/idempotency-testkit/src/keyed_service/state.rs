use serde::Serialize;
use serde_json::{Value, json};

/// What a service does to requests. The counters count down as they are used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// That many requests are turned away with 503 and do nothing.
    pub turn_away: u32,
    /// That many requests are refused for good with 422 and do nothing.
    pub refuse: u32,
    /// That many requests are taken, and then answered 500.
    pub fail_after: u32,
    /// Keys are ignored: every request is taken.
    pub ignore_keys: bool,
}

/// A request that was taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Taken {
    /// `{kind}-` and a number.
    pub id: String,
    /// What it was: the last part of the path.
    pub kind: String,
    /// Whose key it was under.
    pub account: String,
    /// The key.
    pub key: String,
    /// What was asked for.
    pub body: Value,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) behaviour: Behaviour,
    pub(super) ledger: Vec<Taken>,
}

/// Status, body, and whether it was answered before.
pub(super) type Answer = (u16, Value, bool);

impl State {
    pub(super) fn take(&mut self, kind: &str, account: &str, key: &str, body: Value) -> Answer {
        let same =
            |taken: &&Taken| (taken.kind.as_str(), taken.account.as_str(), taken.key.as_str()) == (kind, account, key);
        if let Some(taken) = self.ledger.iter().find(same).filter(|_| !self.behaviour.ignore_keys) {
            return match taken.body == body {
                true => (200, json!({ "id": taken.id }), true),
                false => (400, json!({ "error": "the key was used with another body" }), false),
            };
        }
        if count_down(&mut self.behaviour.turn_away) {
            return (503, json!({ "error": "try again later" }), false);
        }
        if count_down(&mut self.behaviour.refuse) {
            return (422, json!({ "error": "this cannot be done" }), false);
        }
        let id = format!("{kind}-{}", self.ledger.len() + 1);
        self.ledger.push(Taken {
            id: id.clone(),
            kind: kind.to_owned(),
            account: account.to_owned(),
            key: key.to_owned(),
            body,
        });
        match count_down(&mut self.behaviour.fail_after) {
            true => (500, json!({ "error": "something failed" }), false),
            false => (200, json!({ "id": id }), false),
        }
    }
}

/// Takes one from a counter.
fn count_down(counter: &mut u32) -> bool {
    let some = *counter > 0;
    *counter = counter.saturating_sub(1);
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_once_per_account_and_kind_and_remembers_its_body() {
        let mut state = State::default();
        let first = state.take("mails", "a", "k", json!(1));
        assert_eq!(first, (200, json!({ "id": "mails-1" }), false));
        assert_eq!(state.take("mails", "a", "k", json!(1)), (200, json!({ "id": "mails-1" }), true));
        assert_eq!(state.take("mails", "a", "k", json!(2)).0, 400);
        for (kind, account, key) in [("calls", "a", "k"), ("mails", "b", "k"), ("mails", "a", "l")] {
            assert_eq!(state.take(kind, account, key, json!(1)).0, 200);
        }
        assert_eq!(state.ledger.len(), 4);
        state.behaviour.ignore_keys = true;
        state.take("mails", "a", "k", json!(1));
        assert_eq!(state.ledger.len(), 5);
    }

    #[test]
    fn what_is_turned_away_or_refused_is_not_taken_and_what_fails_after_is() {
        let behaviour = Behaviour { turn_away: 1, refuse: 1, fail_after: 1, ignore_keys: false };
        let mut state = State { behaviour, ..State::default() };
        let statuses: Vec<_> = (0..4).map(|_| state.take("mails", "a", "k", json!(1)).0).collect();
        assert_eq!(statuses, [503, 422, 500, 200]);
        assert_eq!(state.ledger.len(), 1);
    }
}
