//! Which records of a batch may run side by side.

use std::collections::HashMap;

/// What a record must be in order with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Link {
    /// The source's group. It stops at its first failure.
    Group(String),
    /// Records with the same key: a duplicate inside one batch runs once, after the first.
    Same(String),
    /// Nothing.
    Alone,
}

/// Records that run one after the other, by their places in the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) records: Vec<usize>,
    /// Whether it stops at its first failure.
    pub(super) is_ordered: bool,
}

/// Sorts records into chains, which may run side by side. Chains stand in the order of their first records, records of a chain in
/// theirs.
pub(super) fn chains(links: impl IntoIterator<Item = Link>) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut known = HashMap::new();
    for (record, link) in links.into_iter().enumerate() {
        let is_ordered = matches!(link, Link::Group(_));
        let place = match link {
            Link::Alone => chains.len(),
            link => *known.entry(link).or_insert(chains.len()),
        };
        match chains.get_mut(place) {
            Some(chain) => chain.records.push(record),
            None => chains.push(Chain { records: vec![record], is_ordered }),
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_duplicates_run_in_order_and_all_else_side_by_side() {
        let group = |name: &str| Link::Group(name.into());
        let same = |name: &str| Link::Same(name.into());
        let links = [group("a"), same("k"), Link::Alone, group("b"), group("a"), same("k"), Link::Alone, same("a")];
        let chains = chains(links);
        let records: Vec<_> = chains.iter().map(|chain| chain.records.clone()).collect();
        assert_eq!(records, [vec![0, 4], vec![1, 5], vec![2], vec![3], vec![6], vec![7]]);
        let ordered: Vec<_> = chains.iter().map(|chain| chain.is_ordered).collect();
        assert_eq!(ordered, [true, false, false, true, false, false]);
    }
}
