use std::sync::Arc;

use tokio::sync::watch;

/// Holds requests until the test opens it. Clones are the same gate.
///
/// `reached` makes a test wait for the exact moment at which something else may happen, instead of
/// sleeping and hoping.
#[derive(Debug, Clone)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Default)]
struct State {
    reached: usize,
    open: bool,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Waits until a request has come to the gate. Returns at once if one came earlier.
    ///
    /// Dropping the future changes nothing.
    pub async fn reached(&self) {
        self.reached_by(1).await;
    }

    /// Waits until `requests` requests have come to the gate, counted from its creation.
    ///
    /// Dropping the future changes nothing.
    pub async fn reached_by(&self, requests: usize) {
        // The sender is in `self`, so it outlives the wait and the error cannot happen.
        let _ = self.state.subscribe().wait_for(|state| state.reached >= requests).await;
    }

    /// Lets everything through, now and later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// A request comes to the gate and leaves it when it is open.
    pub(super) async fn pass(&self) {
        self.state.send_modify(|state| state.reached += 1);
        let _ = self.state.subscribe().wait_for(|state| state.open).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}
