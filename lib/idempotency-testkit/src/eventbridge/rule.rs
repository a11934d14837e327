use crate::lambda::AsyncInvoker;
use crate::sqs::Queue;

use super::entry::Entry;

/// A rule: which events go to which targets.
///
/// The pattern is the simple part of EventBridge's: exact values of `source` and of `detail-type`, each a list of which one
/// must fit. Without a list everything fits. Prefixes, numbers, `anything-but` and patterns on the detail are not emulated.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rule {
    /// The rule's name, for logs.
    pub name: String,
    /// The sources that fit; empty is all.
    pub sources: Vec<String>,
    /// The detail types that fit; empty is all.
    pub detail_types: Vec<String>,
    /// Where the events go.
    pub targets: Vec<Target>,
}

/// Where a rule's events go.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Target {
    /// A function, asynchronously.
    Function(AsyncInvoker),
    /// A standard queue. (A FIFO queue would need a message group, which rules here do not have.)
    Queue(Queue),
}

impl From<AsyncInvoker> for Target {
    fn from(invoker: AsyncInvoker) -> Self {
        Self::Function(invoker)
    }
}

impl From<Queue> for Target {
    fn from(queue: Queue) -> Self {
        Self::Queue(queue)
    }
}

impl Rule {
    /// A rule for all events, without targets.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), sources: Vec::new(), detail_types: Vec::new(), targets: Vec::new() }
    }

    /// Adds a source that fits.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// Adds a detail type that fits.
    #[must_use]
    pub fn detail_type(mut self, detail_type: impl Into<String>) -> Self {
        self.detail_types.push(detail_type.into());
        self
    }

    /// Adds a target: an [`AsyncInvoker`] or a [`Queue`].
    #[must_use]
    pub fn target(mut self, target: impl Into<Target>) -> Self {
        self.targets.push(target.into());
        self
    }

    pub(super) fn fits(&self, entry: &Entry) -> bool {
        let one_of = |list: &[String], value: &String| list.is_empty() || list.contains(value);
        one_of(&self.sources, &entry.source) && one_of(&self.detail_types, &entry.detail_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_fits_one_of_each_list() {
        let entry = |source: &str, detail_type: &str| {
            Entry::read(&json!({ "Source": source, "DetailType": detail_type, "Detail": "{}" })).unwrap()
        };
        let rule = Rule::new("r").source("a").source("b").detail_type("T");

        assert!(rule.fits(&entry("a", "T")) && rule.fits(&entry("b", "T")));
        assert!(!rule.fits(&entry("c", "T")));
        assert!(!rule.fits(&entry("a", "t")));
        assert!(!rule.fits(&entry("ab", "T")));
        assert!(Rule::new("all").fits(&entry("c", "t")));
    }
}
