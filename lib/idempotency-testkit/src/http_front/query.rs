//! The query string of an event.

use std::collections::BTreeMap;

use axum::extract::Query;
use http::Uri;

/// Decoded parameters; duplicates are combined with commas, in order.
pub(super) fn parameters(uri: &Uri) -> BTreeMap<String, String> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default();
    let mut combined = BTreeMap::<String, String>::new();
    for (name, value) in pairs {
        combined
            .entry(name)
            .and_modify(|values| {
                values.push(',');
                values.push_str(&value);
            })
            .or_insert(value);
    }
    combined
}
