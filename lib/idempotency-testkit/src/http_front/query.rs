//! The query string of a request.

use std::collections::BTreeMap;

use axum::extract::Query;
use http::Uri;

/// Names and values in order, decoded: what API Gateway and function URLs do.
pub(super) fn decoded(uri: &Uri) -> Vec<(String, String)> {
    Query::<Vec<(String, String)>>::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default()
}

/// Names and values in order, as they were sent: what load balancers do.
pub(super) fn raw(uri: &Uri) -> Vec<(String, String)> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// One value for each name: all of them, joined by commas.
pub(super) fn joined(pairs: Vec<(String, String)>) -> BTreeMap<String, String> {
    all(pairs).into_iter().map(|(name, values)| (name, values.join(","))).collect()
}

/// One value for each name: the last.
pub(super) fn last(pairs: Vec<(String, String)>) -> BTreeMap<String, String> {
    pairs.into_iter().collect()
}

/// All values of each name, in order.
pub(super) fn all(pairs: Vec<(String, String)>) -> BTreeMap<String, Vec<String>> {
    let mut values = BTreeMap::<_, Vec<_>>::new();
    for (name, value) in pairs {
        values.entry(name).or_default().push(value);
    }
    values
}
