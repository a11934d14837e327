//! What a response must look like for its trigger.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderName, HeaderValue};
use lambda_http::aws_lambda_events::{
    alb::AlbTargetGroupResponse,
    apigw::{ApiGatewayProxyResponse, ApiGatewayV2httpResponse},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::trigger::Kind;

/// What is wrong with a response for this kind of event.
///
/// The forms are those of "Set up Lambda proxy integrations in API Gateway" (output format), "Create AWS Lambda proxy
/// integrations for HTTP APIs" (payload format 2.0), and "Use Lambda functions as targets of an Application Load Balancer" (respond to the
/// load balancer).
pub(super) fn faults(kind: Kind, response: &Value) -> Vec<String> {
    let mut faults = Faults(Vec::new());
    let Some(members) = response.as_object() else { return vec![format!("{response} is no object")] };
    faults.common(members);
    match kind {
        Kind::Rest => {
            faults.read_as::<ApiGatewayProxyResponse>(response);
            faults.members(members, &["multiValueHeaders"]);
            // API Gateway merges both maps, and a name in both would be sent twice.
            let both = names(members.get("headers")).intersection(&names(members.get("multiValueHeaders"))).count();
            faults.unless(both == 0, "a header stands in both maps");
        }
        Kind::HttpApi => {
            faults.read_as::<ApiGatewayV2httpResponse>(response);
            faults.members(members, &["multiValueHeaders", "cookies"]);
            faults.unless(
                names(members.get("multiValueHeaders")).is_empty(),
                "payload format 2.0 knows one value per name",
            );
            faults.unless(!names(members.get("headers")).contains("set-cookie"), "cookies have a member of their own");
            let cookies = members.get("cookies").and_then(Value::as_array);
            faults.unless(cookies.is_some_and(|all| all.iter().all(Value::is_string)), "cookies are no list of texts");
        }
        Kind::Alb => {
            faults.read_as::<AlbTargetGroupResponse>(response);
            faults.members(members, &["multiValueHeaders", "statusDescription"]);
            // Which map the load balancer reads is the target group's setting, so both must have everything.
            let (single, multi) = (names(members.get("headers")), names(members.get("multiValueHeaders")));
            faults.unless(single == multi, "the two maps of headers differ");
            let status = members.get("statusCode").and_then(Value::as_u64).unwrap_or_default().to_string();
            let description = members.get("statusDescription").and_then(Value::as_str).unwrap_or_default();
            faults.unless(description.starts_with(&status), "the status' description is another status'");
        }
    }
    faults.0
}

struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, right: bool, fault: &str) {
        if !right {
            self.0.push(fault.to_owned());
        }
    }

    /// What all kinds have in common.
    fn common(&mut self, members: &Map<String, Value>) {
        let status = members.get("statusCode").and_then(Value::as_u64);
        self.unless(status.is_some_and(|status| (100..=599).contains(&status)), "the status is none");
        for header in members.get("headers").and_then(Value::as_object).into_iter().flatten() {
            self.header(header.0, header.1);
        }
        for (name, values) in members.get("multiValueHeaders").and_then(Value::as_object).into_iter().flatten() {
            self.unless(values.as_array().is_some_and(|values| !values.is_empty()), "a name without a list of values");
            for value in values.as_array().into_iter().flatten() {
                self.header(name, value);
            }
        }
        let body = members.get("body");
        self.unless(body.is_none_or(Value::is_string), "the body is no text");
        match members.get("isBase64Encoded") {
            Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => {
                let decoded = body.and_then(Value::as_str).is_some_and(|body| STANDARD.decode(body).is_ok());
                self.unless(decoded, "the body says it is base64 and is not");
            }
            _ => self.unless(false, "nothing says whether the body is base64"),
        }
    }

    fn header(&mut self, name: &str, value: &Value) {
        let value = value.as_str().map(HeaderValue::from_str);
        self.unless(HeaderName::from_bytes(name.as_bytes()).is_ok(), "a header's name is none");
        self.unless(matches!(value, Some(Ok(_))), "a header's value is none");
    }

    fn members(&mut self, members: &Map<String, Value>, more: &[&str]) {
        let all = ["statusCode", "headers", "body", "isBase64Encoded"];
        for name in members.keys().filter(|name| !all.contains(&name.as_str()) && !more.contains(&name.as_str())) {
            self.0.push(format!("{name} is not known to the trigger"));
        }
    }

    fn read_as<T: DeserializeOwned>(&mut self, response: &Value) {
        if let Err(error) = serde_json::from_value::<T>(response.clone()) {
            self.0.push(format!("it cannot be read back: {error}"));
        }
    }
}

fn names(map: Option<&Value>) -> BTreeSet<String> {
    map.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.to_ascii_lowercase()).collect()
}
