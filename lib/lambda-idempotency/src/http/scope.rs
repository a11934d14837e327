//! Whose keys a request uses: tenants and callers, from what the platform authenticated.
//!
//! Prefer what an authorizer established ([`jwt_claim`], [`authorizer`], [`api_key_id`], [`iam_caller`],
//! [`load_balancer_identity`]) to what the caller writes
//! ([`header`]): a caller that can choose its scope can read another's stored responses.

use std::{fmt, sync::Arc};

use http::StatusCode;
use idempotency_core::Scope;
use lambda_http::{Request, RequestExt, request::RequestContext};
use serde_json::Value;

use super::{Problem, ProblemType};

type Find = dyn Fn(&Request) -> Option<String> + Send + Sync;

/// Where an operation finds the scope of a request.
#[derive(Clone)]
pub struct ScopeSource(Kind);

#[derive(Clone)]
enum Kind {
    Unscoped,
    Found { by: Arc<str>, status: StatusCode, find: Arc<Find> },
}

/// A claim of the caller's JWT, such as `sub`, as an HTTP API's JWT authorizer or a REST API's Cognito authorizer leaves it in
/// the request context. A request without it is answered 403.
pub fn jwt_claim(name: impl Into<String>) -> ScopeSource {
    let name = name.into();
    found(format!("JWT claim {name:?}"), StatusCode::FORBIDDEN, move |request| match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.authorizer.as_ref()?.jwt.as_ref()?.claims.get(&name).cloned(),
        RequestContext::ApiGatewayV1(context) => text(context.authorizer.fields.get("claims")?.get(&name)?),
        _ => None,
    })
}

/// A field that a Lambda authorizer put into the request context, such as `tenantId` or `principalId`. A request without it
/// is answered 403.
pub fn authorizer(field: impl Into<String>) -> ScopeSource {
    let field = field.into();
    found(format!("authorizer field {field:?}"), StatusCode::FORBIDDEN, move |request| {
        match request.request_context_ref()? {
            RequestContext::ApiGatewayV2(context) => text(context.authorizer.as_ref()?.fields.get(&field)?),
            RequestContext::ApiGatewayV1(context) => text(context.authorizer.fields.get(&field)?),
            _ => None,
        }
    })
}

/// The id of the API key that a REST API's usage plan checked. A request without one is answered 403.
pub fn api_key_id() -> ScopeSource {
    found("API key id", StatusCode::FORBIDDEN, |request| match request.request_context_ref()? {
        RequestContext::ApiGatewayV1(context) => context.identity.api_key_id.clone(),
        _ => None,
    })
}

/// The IAM principal that signed the request, as a function URL with `AWS_IAM` or an API with IAM authorization leaves it in the
/// request context. A request without it is answered 403.
///
/// It is the principal's unique id without the name of a role's session, which differs between retries. So all sessions of
/// a role are one caller: where people share a role, they can read each other's stored responses.
pub fn iam_caller() -> ScopeSource {
    found("IAM caller", StatusCode::FORBIDDEN, |request| {
        let id = match request.request_context_ref()? {
            RequestContext::ApiGatewayV2(context) => context.authorizer.as_ref()?.iam.as_ref()?.user_id.clone()?,
            RequestContext::ApiGatewayV1(context) => context.identity.user.clone()?,
            _ => return None,
        };
        // "IAM identifiers", "Unique identifiers": a session of a role is `AROA…:session-name`.
        Some(id.split(':').next().unwrap_or_default().to_owned())
    })
}

/// The subject (`sub`) of the user that an Application Load Balancer's authenticate action let in, from the header
/// `x-amzn-oidc-identity`. A request without it, or one that did not come from a load balancer, is answered 403.
///
/// Every rule that leads to the function must have the action: only then does the header come from the load balancer, and not
/// from the caller.
pub fn load_balancer_identity() -> ScopeSource {
    found("load balancer identity", StatusCode::FORBIDDEN, |request| match request.request_context_ref()? {
        RequestContext::Alb(_) => {
            let mut values = request.headers().get_all("x-amzn-oidc-identity").iter();
            // Two values: one of them is not the load balancer's.
            match (values.next(), values.next()) {
                (Some(value), None) => value.to_str().ok().map(str::to_owned),
                _ => None,
            }
        }
        _ => None,
    })
}

/// A request header with exactly one value. (A REST API, and a load balancer without multi-value headers, deliver only the
/// last of several; nothing can be done about that here.) Only for callers that are trusted to name their tenant, or behind something that sets the header. A
/// request without it is answered 400.
pub fn header(name: impl Into<String>) -> ScopeSource {
    let name = name.into();
    found(format!("header {name:?}"), StatusCode::BAD_REQUEST, move |request| {
        let mut values = request.headers().get_all(&name).iter();
        // Two headers would let a caller and a proxy mean different tenants.
        match (values.next(), values.next()) {
            // A gateway may have joined them by a comma.
            (Some(value), None) => value.to_str().ok().filter(|value| !value.contains(',')).map(str::to_owned),
            _ => None,
        }
    })
}

/// No scope: all callers share one key space, and whoever knows a key can read its stored response. For services with a
/// single caller.
pub const fn none() -> ScopeSource {
    ScopeSource(Kind::Unscoped)
}

/// A function of the request. `described_by` names what it looks for, for the answer (403) when it finds nothing.
pub fn custom(
    described_by: impl Into<String>,
    find: impl Fn(&Request) -> Option<String> + Send + Sync + 'static,
) -> ScopeSource {
    found(described_by, StatusCode::FORBIDDEN, find)
}

fn found(
    by: impl Into<String>,
    status: StatusCode,
    find: impl Fn(&Request) -> Option<String> + Send + Sync + 'static,
) -> ScopeSource {
    ScopeSource(Kind::Found { by: by.into().into(), status, find: Arc::new(find) })
}

/// Scalars that an authorizer may put into the context; an object or a list names no tenant.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl ScopeSource {
    /// The scope of a request.
    ///
    /// # Errors
    ///
    /// The problem to answer when the scope is missing, empty or blank. It is never replaced by a shared one.
    pub fn scope(&self, request: &Request) -> Result<Scope, Problem> {
        let Kind::Found { by, status, find } = &self.0 else { return Ok(Scope::none()) };
        find(request).and_then(|tenant| Scope::tenant(tenant).ok()).ok_or_else(|| {
            tracing::warn!(source = %by, "the request has no scope");
            Problem::new(ProblemType::ScopeMissing, format!("the request has no {by} that says whose key this is"))
                .with_status(*status)
        })
    }
}

impl fmt::Debug for ScopeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unscoped => f.write_str("ScopeSource(none)"),
            Kind::Found { by, .. } => write!(f, "ScopeSource({by})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use lambda_http::request::from_str;

    use super::*;

    fn http_api(authorizer: &str) -> Request {
        let event = format!(
            r#"{{"version":"2.0","routeKey":"$default","rawPath":"/charges","rawQueryString":"","headers":{{"x-tenant-id":"t-h"}},
            "requestContext":{{"accountId":"1","apiId":"a","authorizer":{authorizer},"http":{{"method":"POST","path":"/charges"}},
            "stage":"$default"}},"isBase64Encoded":false}}"#
        );
        from_str(&event).unwrap()
    }

    fn rest_api(authorizer: &str) -> Request {
        let event = format!(
            r#"{{"resource":"/charges","path":"/charges","httpMethod":"POST","headers":{{}},"multiValueHeaders":{{}},
            "requestContext":{{"accountId":"1","authorizer":{authorizer},"httpMethod":"POST","identity":{{"apiKeyId":"k-1"}},
            "stage":"prod"}},"isBase64Encoded":false}}"#
        );
        from_str(&event).unwrap()
    }

    fn load_balancer(headers: &str) -> Request {
        let event = format!(
            r#"{{"requestContext":{{"elb":{{"targetGroupArn":"arn"}}}},"httpMethod":"POST","path":"/charges",
            "multiValueHeaders":{headers},"body":"","isBase64Encoded":false}}"#
        );
        from_str(&event).unwrap()
    }

    #[test]
    fn an_iam_caller_is_the_principal_without_its_session() {
        let user = http_api(r#"{"iam":{"userId":"AIDA1","userArn":"arn:aws:iam::1:user/u"}}"#);
        let session = http_api(r#"{"iam":{"userId":"AROA1:session-7"}}"#);
        let v1 = r#"{"resource":"/c","path":"/c","httpMethod":"POST","headers":{},"multiValueHeaders":{},"isBase64Encoded":false,
            "requestContext":{"accountId":"1","httpMethod":"POST","identity":{"user":"AROA1:session-8"},"stage":"prod"}}"#;
        assert_eq!(tenant(&iam_caller(), &user), Ok(Some("AIDA1".into())));
        assert_eq!(tenant(&iam_caller(), &session), Ok(Some("AROA1".into())));
        assert_eq!(tenant(&iam_caller(), &from_str(v1).unwrap()), Ok(Some("AROA1".into())));
        for nobody in [http_api("null"), http_api(r#"{"iam":{"userId":":session"}}"#), rest_api("null")] {
            assert_eq!(tenant(&iam_caller(), &nobody), Err(StatusCode::FORBIDDEN));
        }
    }

    #[test]
    fn a_load_balancers_identity_is_taken_from_a_load_balancer_only() {
        let source = load_balancer_identity();
        let request = load_balancer(r#"{"x-amzn-oidc-identity":["t-1"]}"#);
        assert_eq!(tenant(&source, &request), Ok(Some("t-1".into())));
        assert_eq!(tenant(&jwt_claim("sub"), &request), Err(StatusCode::FORBIDDEN));
        let mut elsewhere = http_api("null");
        elsewhere.headers_mut().insert("x-amzn-oidc-identity", "t-1".parse().unwrap());
        let twice = load_balancer(r#"{"x-amzn-oidc-identity":["t-1","t-2"]}"#);
        for nobody in [load_balancer("{}"), twice, elsewhere] {
            assert_eq!(tenant(&source, &nobody), Err(StatusCode::FORBIDDEN));
        }
    }

    fn tenant(source: &ScopeSource, request: &Request) -> Result<Option<String>, StatusCode> {
        source.scope(request).map(|scope| scope.as_tenant().map(str::to_owned)).map_err(|problem| problem.status())
    }

    #[test]
    fn each_source_reads_its_place() {
        let v2 = http_api(r#"{"jwt":{"claims":{"sub":"t-1"},"scopes":null},"lambda":{"tenantId":"t-2","n":7}}"#);
        let v1 = rest_api(r#"{"claims":{"sub":"t-3"},"principalId":"t-4"}"#);
        assert_eq!(tenant(&jwt_claim("sub"), &v2), Ok(Some("t-1".into())));
        assert_eq!(tenant(&authorizer("tenantId"), &v2), Ok(Some("t-2".into())));
        assert_eq!(tenant(&authorizer("n"), &v2), Ok(Some("7".into())));
        assert_eq!(tenant(&jwt_claim("sub"), &v1), Ok(Some("t-3".into())));
        assert_eq!(tenant(&authorizer("principalId"), &v1), Ok(Some("t-4".into())));
        assert_eq!(tenant(&api_key_id(), &v1), Ok(Some("k-1".into())));
        assert_eq!(tenant(&header("X-Tenant-Id"), &v2), Ok(Some("t-h".into())));
        assert_eq!(tenant(&none(), &v2), Ok(None));
        assert_eq!(tenant(&custom("path", |r| Some(r.uri().path().to_owned())), &v2), Ok(Some("/charges".into())));
    }

    #[test]
    fn a_missing_empty_or_blank_scope_is_refused() {
        for authorizer_context in
            ["null", "{}", r#"{"jwt":{"claims":{"sub":""}}}"#, r#"{"jwt":{"claims":{"sub":" "}}}"#]
        {
            let request = http_api(authorizer_context);
            assert_eq!(tenant(&jwt_claim("sub"), &request), Err(StatusCode::FORBIDDEN), "{authorizer_context}");
        }
        let request = http_api("null");
        assert_eq!(tenant(&authorizer("tenantId"), &request), Err(StatusCode::FORBIDDEN));
        assert_eq!(tenant(&header("x-other"), &request), Err(StatusCode::BAD_REQUEST));
        assert_eq!(tenant(&authorizer("claims"), &rest_api(r#"{"claims":{"sub":"t"}}"#)), Err(StatusCode::FORBIDDEN));
    }
}
