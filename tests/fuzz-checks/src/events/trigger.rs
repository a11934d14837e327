//! Triggers: an event of each, what kind it is, and whose keys its function uses.

use super::{Json, function::Scope, response};

/// A trigger, and the function behind it.
#[derive(Clone, Copy, Debug)]
pub struct Trigger {
    /// Its name, as its event's file has it.
    pub name: &'static str,
    /// A real event.
    pub(super) event: &'static str,
    /// The kind that the event is decoded as.
    pub(super) kind: Kind,
    /// Whose keys the function uses.
    pub(super) scope: Scope,
    /// Where the event says whose keys it uses; a header when there is one name only.
    pub(super) tenant: &'static [&'static str],
}

/// Kinds of events that are decoded, and answered, in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// API Gateway's REST API, payload format 1.0.
    Rest,
    /// API Gateway's HTTP API and function URLs, payload format 2.0.
    HttpApi,
    /// Load balancers, with and without multi-value headers.
    Alb,
}

impl Trigger {
    /// Every trigger that there is.
    pub const fn all() -> &'static [Self] {
        &[
            Self {
                name: "api-gateway-rest",
                event: include_str!("../../../../events/api-gateway-rest-charge.json"),
                kind: Kind::Rest,
                scope: Scope::Jwt,
                tenant: &["requestContext", "authorizer", "claims", "sub"],
            },
            Self {
                name: "api-gateway",
                event: include_str!("../../../../events/api-gateway-charge.json"),
                kind: Kind::HttpApi,
                scope: Scope::Jwt,
                tenant: &["requestContext", "authorizer", "jwt", "claims", "sub"],
            },
            Self {
                name: "alb",
                event: include_str!("../../../../events/alb-charge.json"),
                kind: Kind::Alb,
                scope: Scope::Oidc,
                tenant: &["x-amzn-oidc-identity"],
            },
            Self {
                name: "alb-multi-value",
                event: include_str!("../../../../events/alb-multi-value-charge.json"),
                kind: Kind::Alb,
                scope: Scope::Oidc,
                tenant: &["x-amzn-oidc-identity"],
            },
            Self {
                name: "function-url",
                event: include_str!("../../../../events/function-url-charge.json"),
                kind: Kind::HttpApi,
                scope: Scope::Iam,
                tenant: &["requestContext", "authorizer", "iam", "userId"],
            },
        ]
    }

    /// The trigger with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|trigger| trigger.name == name)
    }

    /// The real event.
    pub(super) fn event(&self) -> Json {
        Json::parse(self.event).unwrap()
    }
}

impl Kind {
    /// Where an event of this kind says its method.
    pub(super) const fn method(self) -> &'static [&'static str] {
        match self {
            Self::Rest | Self::Alb => &["httpMethod"],
            Self::HttpApi => &["requestContext", "http", "method"],
        }
    }

    /// What is wrong with a response for this kind of event.
    pub(super) fn faults(self, response: &serde_json::Value) -> Vec<String> {
        response::faults(self, response)
    }
}
