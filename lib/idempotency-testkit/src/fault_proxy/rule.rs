use std::fmt;
use std::sync::Arc;

use super::{Fault, ProxiedRequest};

type Predicate = Arc<dyn Fn(&ProxiedRequest) -> bool + Send + Sync>;

/// Which requests get which fault: `Rule::on("PutItem").nth(2).fault(Fault::DropAfter)`.
///
/// A rule counts the requests that it matches from the moment it is injected. It fires on the next
/// one, once, unless [`RuleBuilder::nth`], [`RuleBuilder::times`] or [`RuleBuilder::forever`] say
/// otherwise.
#[derive(Debug)]
pub struct Rule {
    matching: RuleBuilder,
    fault: Fault,
    seen: u64,
    fired: u64,
}

impl Rule {
    /// Matches one operation, such as `PutItem`.
    pub fn on(operation: impl Into<String>) -> RuleBuilder {
        RuleBuilder { operation: Some(operation.into()), ..RuleBuilder::any() }
    }

    /// Matches every request.
    pub fn any() -> RuleBuilder {
        RuleBuilder::any()
    }

    /// Counts `request` if it matches. Says whether the rule would fire on it.
    fn sees(&mut self, request: &ProxiedRequest) -> bool {
        if !self.matching.matches(request) {
            return false;
        }
        self.seen += 1;
        let spent = self.matching.times.is_some_and(|times| self.fired >= times);
        self.seen >= self.matching.nth && !spent
    }
}

/// A rule without its fault. [`RuleBuilder::fault`] completes it.
#[derive(Clone)]
#[must_use = "a rule does nothing until it has a fault and is injected"]
pub struct RuleBuilder {
    operation: Option<String>,
    predicates: Vec<Predicate>,
    nth: u64,
    times: Option<u64>,
}

impl RuleBuilder {
    fn any() -> Self {
        Self { operation: None, predicates: Vec::new(), nth: 1, times: Some(1) }
    }

    /// Fires from the `n`th matching request on, counted from 1.
    pub fn nth(mut self, n: u64) -> Self {
        self.nth = n;
        self
    }

    /// Fires on that many requests.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Fires until the rules are cleared.
    pub fn forever(mut self) -> Self {
        self.times = None;
        self
    }

    /// Matches only requests to `table`.
    pub fn table(self, table: impl Into<String>) -> Self {
        let table = table.into();
        self.when(move |request| request.table.as_deref() == Some(&table))
    }

    /// Matches only requests for which `predicate` is true. Several predicates must all be true.
    pub fn when(mut self, predicate: impl Fn(&ProxiedRequest) -> bool + Send + Sync + 'static) -> Self {
        self.predicates.push(Arc::new(predicate));
        self
    }

    /// The finished rule.
    pub fn fault(self, fault: Fault) -> Rule {
        Rule { matching: self, fault, seen: 0, fired: 0 }
    }

    fn matches(&self, request: &ProxiedRequest) -> bool {
        let operation = self.operation.as_ref().is_none_or(|operation| *operation == request.operation);
        operation && self.predicates.iter().all(|predicate| predicate(request))
    }
}

impl fmt::Debug for RuleBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleBuilder")
            .field("operation", &self.operation)
            .field("predicates", &self.predicates.len())
            .field("nth", &self.nth)
            .field("times", &self.times)
            .finish()
    }
}

/// Shows `request` to every rule, so that all of them count it, and fires the first one that would.
pub(super) fn pick(rules: &mut [Rule], request: &ProxiedRequest) -> Option<Fault> {
    let mut chosen = None;
    for rule in rules {
        if rule.sees(request) && chosen.is_none() {
            rule.fired += 1;
            chosen = Some(rule.fault.clone());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(operation: &str, table: &str) -> ProxiedRequest {
        let body = json!({ "TableName": table });
        ProxiedRequest { operation: operation.into(), table: Some(table.into()), body }
    }

    fn fires(rules: &mut [Rule], requests: &[ProxiedRequest]) -> Vec<bool> {
        requests.iter().map(|request| pick(rules, request).is_some()).collect()
    }

    #[test]
    fn by_default_it_fires_on_the_next_match_once() {
        let mut rules = [Rule::on("PutItem").fault(Fault::DropAfter)];
        let (put, get) = (request("PutItem", "t"), request("GetItem", "t"));

        assert_eq!(fires(&mut rules, &[get, put.clone(), put]), [false, true, false]);
    }

    #[test]
    fn nth_and_times_pick_a_run_of_matches() {
        let mut rules = [Rule::on("PutItem").nth(2).times(2).fault(Fault::DropAfter)];
        let puts = vec![request("PutItem", "t"); 4];

        assert_eq!(fires(&mut rules, &puts), [false, true, true, false]);
    }

    #[test]
    fn forever_any_and_predicates_combine() {
        let claim = |request: &ProxiedRequest| request.body.get("TableName").is_some();
        let mut rules = [Rule::any().table("t").when(claim).forever().fault(Fault::Throttle)];
        let requests = [request("PutItem", "t"), request("GetItem", "u"), request("GetItem", "t")];

        assert_eq!(fires(&mut rules, &requests), [true, false, true]);
    }

    #[test]
    fn the_first_rule_wins_and_later_rules_count_all_the_same() {
        let mut rules =
            [Rule::on("PutItem").fault(Fault::DropBefore), Rule::on("PutItem").nth(2).fault(Fault::DropAfter)];
        let put = request("PutItem", "t");

        let picked: Vec<_> = (0..3).map(|_| pick(&mut rules, &put)).collect();

        assert_eq!(picked, [Some(Fault::DropBefore), Some(Fault::DropAfter), None]);
    }
}
