//! What must become of an event, computed from its text without the code under test.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    Json,
    function::{Charge, Scope},
    trigger::Kind,
};
use crate::key_header;

/// What must become of a decoded event.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// It is answered with this status, and the handler does not run.
    Refused(u16),
    /// The handler runs as the owner of this key of this tenant.
    Runs { key: String, tenant: String, charge: Charge },
    /// The handler runs, on a method that needs no key.
    RunsUnprotected,
    /// It is written in a way that is not followed here (structs as arrays, headers as lists of bytes).
    Unknown,
}

/// What must become of an event that was decoded as this kind.
pub(super) fn expected(event: &Json, kind: Kind, scope: Scope) -> Expected {
    let structs: [&[&str]; 8] = [
        &[],
        &["requestContext"],
        &["requestContext", "http"],
        &["requestContext", "elb"],
        &["requestContext", "authorizer"],
        &["requestContext", "authorizer", "jwt"],
        &["requestContext", "authorizer", "iam"],
        &["requestContext", "authorizer", "claims"],
    ];
    // serde also reads structs from arrays; no trigger writes them so.
    if structs.iter().any(|path| matches!(event.at(path), Some(Json::Array(_)))) {
        return Expected::Unknown;
    }
    let Some(charge) = charge(event) else { return Expected::Unknown };
    let method = event.at(kind.method()).and_then(Json::as_str);
    if !matches!(method, Some("POST" | "PATCH")) {
        return if charge.is_some() { Expected::RunsUnprotected } else { Expected::Refused(400) };
    }
    let Some(keys) = headers(event, kind, "idempotency-key") else { return Expected::Unknown };
    let keys: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
    let key = match key_header::expected(&keys) {
        key_header::Expected::Key(key) => key,
        key_header::Expected::Refused => return Expected::Refused(400),
        key_header::Expected::KeyOrRefused(_) => return Expected::Unknown,
    };
    match (tenant(event, kind, scope), charge) {
        (Tenant::Unknown, _) => Expected::Unknown,
        (Tenant::Missing, _) => Expected::Refused(if scope == Scope::Oidc { 400 } else { 403 }),
        (Tenant::Is(_), None) => Expected::Refused(400),
        (Tenant::Is(tenant), Some(charge)) => Expected::Runs { key, tenant, charge },
    }
}

/// The charge in the body: `None` if that cannot be said, `Some(None)` if there is none.
fn charge(event: &Json) -> Option<Option<Charge>> {
    let body = event.get("body").and_then(Json::as_str).unwrap_or_default();
    let bytes = match event.get("isBase64Encoded") {
        Some(Json::Bool(true)) => STANDARD.decode(body).ok()?,
        _ => body.as_bytes().to_vec(),
    };
    Some(serde_json::from_slice(&bytes).ok())
}

/// The values of a header that the handler sees; `None` if that cannot be said.
///
/// Payload format 2.0 has `headers` only. The other kinds may have both maps: a name in `headers` replaces the values that
/// `multiValueHeaders` has for it.
fn headers(event: &Json, kind: Kind, name: &str) -> Option<Vec<String>> {
    let single = header(event.get("headers"), name)?;
    match kind {
        Kind::Rest | Kind::Alb if single.is_empty() => header(event.get("multiValueHeaders"), name),
        _ => Some(single),
    }
}

/// The values of a header in one map. Names that differ in case are one name; a text replaces what was before, a list adds to it.
fn header(map: Option<&Json>, name: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let Some(map) = map else { return Some(values) };
    let members = match map {
        Json::Object(members) => members,
        Json::Null => return Some(values),
        _ => return None,
    };
    for (_, value) in members.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name)) {
        match value {
            Json::String(text) => values = vec![text.clone()],
            Json::Array(texts) => {
                for text in texts {
                    values.push(text.as_str()?.to_owned());
                }
            }
            _ => return None,
        }
    }
    Some(values)
}

enum Tenant {
    Is(String),
    Missing,
    Unknown,
}

fn tenant(event: &Json, kind: Kind, scope: Scope) -> Tenant {
    let claims: &[&str] = match (scope, kind) {
        (Scope::Jwt, Kind::Rest) => &["requestContext", "authorizer", "claims", "sub"],
        (Scope::Jwt, Kind::HttpApi) => &["requestContext", "authorizer", "jwt", "claims", "sub"],
        (Scope::Iam, Kind::HttpApi) => &["requestContext", "authorizer", "iam", "userId"],
        (Scope::Oidc, _) => {
            return match headers(event, kind, "x-amzn-oidc-identity").as_deref() {
                None => Tenant::Unknown,
                // Text beyond ASCII has no agreed encoding in a header (RFC 9110 section 5.5), and names no tenant.
                Some([one]) if one.is_ascii() && !one.contains(',') && !one.trim().is_empty() => {
                    Tenant::Is(one.clone())
                }
                Some(_) => Tenant::Missing,
            };
        }
        _ => return Tenant::Missing,
    };
    match event.at(claims) {
        Some(Json::String(text)) if !text.trim().is_empty() => Tenant::Is(text.clone()),
        // A REST API's authorizer may say numbers; how one that is no integer is spelled is not followed here.
        Some(Json::Number(digits)) if digits.parse().is_ok_and(|number: i64| number.to_string() == *digits) => {
            Tenant::Is(digits.clone())
        }
        Some(Json::Number(_)) => Tenant::Unknown,
        _ => Tenant::Missing,
    }
}
