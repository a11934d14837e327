//! `template.yaml` as it would be deployed: its functions of CloudFormation resolved, in the names that the local stack has.

use std::collections::BTreeMap;

use idempotency_cli::Stack;
use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value, json};

const TEMPLATE: &str = include_str!("../template.yaml");

const REGION: &str = "eu-central-1";
const ACCOUNT: &str = "123456789012";

/// The ARN of a resource of this account.
pub(crate) fn arn(service: &str, resource: &str) -> String {
    format!("arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}")
}

/// A deployed template.
pub(crate) struct Template {
    written: Value,
    parameters: BTreeMap<String, Value>,
}

impl Template {
    /// With the local stack's namespace, and these parameters.
    pub(crate) fn with(parameters: &[(&str, Value)]) -> Self {
        let written = json_of(&Yaml::load_from_str(TEMPLATE).unwrap()[0]);
        let specified = written["Parameters"].as_object().unwrap();
        let default = |spec: &Value| match (spec["Type"].as_str(), spec["Default"].as_str()) {
            (Some("CommaDelimitedList"), Some(text)) => json!(text.split(',').collect::<Vec<_>>()),
            _ => spec["Default"].clone(),
        };
        let mut values: BTreeMap<_, _> = specified.iter().map(|(name, spec)| (name.clone(), default(spec))).collect();
        values.insert("Namespace".to_owned(), json!(Stack::NAMESPACE));
        for (name, value) in parameters {
            values.insert((*name).to_owned(), value.clone()).expect("the template has this parameter");
        }
        Self { written, parameters: values }
    }

    /// A resource's properties.
    pub(crate) fn properties(&self, resource: &str) -> Value {
        let written = &self.written["Resources"][resource]["Properties"];
        assert!(written.is_object(), "{resource} is not in the template");
        self.resolve(written).unwrap()
    }

    /// The attribute that is a local table's partition key.
    pub(crate) fn partition_key(&self, table: &str) -> String {
        let resources = self.written["Resources"].as_object().unwrap();
        let (name, _) = resources.iter().find(|(name, _)| name.ends_with("Table") && local(name) == table).unwrap();
        let keys = self.properties(name)["KeySchema"].clone();
        let hash = keys.as_array().unwrap().iter().find(|key| key["KeyType"] == "HASH").unwrap();
        hash["AttributeName"].as_str().unwrap().to_owned()
    }

    /// The value without functions; `None` for `AWS::NoValue`.
    fn resolve(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Array(items) => Some(items.iter().filter_map(|item| self.resolve(item)).collect()),
            Value::Object(members) => match members.iter().next() {
                Some((name, argument)) if name == "Ref" || name.starts_with("Fn::") => self.call(name, argument),
                _ => {
                    let resolved = members.iter().filter_map(|(name, item)| Some((name.clone(), self.resolve(item)?)));
                    Some(resolved.collect::<Map<_, _>>().into())
                }
            },
            plain => Some(plain.clone()),
        }
    }

    fn call(&self, function: &str, argument: &Value) -> Option<Value> {
        match function {
            "Ref" => self.reference(argument.as_str().unwrap()),
            "Fn::GetAtt" => Some(self.attribute(argument.as_str().unwrap()).into()),
            "Fn::Sub" => Some(self.substituted(argument.as_str().unwrap()).into()),
            "Fn::If" => {
                let condition = &self.written["Conditions"][argument[0].as_str().unwrap()];
                let is_met = self.resolve(condition).unwrap() == json!(true);
                self.resolve(&argument[if is_met { 1 } else { 2 }])
            }
            "Fn::Not" => Some(json!(self.resolve(&argument[0]) == Some(json!(false)))),
            "Fn::Equals" => Some(json!(self.resolve(&argument[0]) == self.resolve(&argument[1]))),
            "Fn::Join" => {
                let items = self.resolve(&argument[1]).unwrap();
                let items: Vec<_> = items.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
                Some(items.join(argument[0].as_str().unwrap()).into())
            }
            other => panic!("{other} is not known here"),
        }
    }

    fn reference(&self, name: &str) -> Option<Value> {
        match name {
            "AWS::NoValue" => None,
            "AWS::Partition" => Some("aws".into()),
            "AWS::Region" => Some(REGION.into()),
            "AWS::AccountId" => Some(ACCOUNT.into()),
            _ => Some(self.parameters.get(name).cloned().unwrap_or_else(|| local(name).into())),
        }
    }

    fn attribute(&self, path: &str) -> String {
        let (resource, attribute) = path.split_once('.').unwrap();
        match (self.written["Resources"][resource]["Type"].as_str(), attribute) {
            (Some("AWS::DynamoDB::Table"), "Arn") => arn("dynamodb", &format!("table/{}", local(resource))),
            // "Amazon S3 resources": a bucket's ARN has no region and no account.
            (Some("AWS::S3::Bucket"), "Arn") => format!("arn:aws:s3:::{}", local(resource)),
            _ => format!("{resource}.{attribute}"),
        }
    }

    fn substituted(&self, text: &str) -> String {
        let mut parts = text.split("${");
        let mut done = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap();
            match name.contains('.') {
                true => done.push_str(&self.attribute(name)),
                false => done.push_str(self.reference(name).unwrap().as_str().unwrap()),
            }
            done.push_str(rest);
        }
        done
    }
}

/// The name that a resource has locally: `ShopOrdersTable` is `shop-orders`.
fn local(resource: &str) -> String {
    let name = resource.strip_suffix("Table").unwrap_or(resource);
    let mut local = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !local.is_empty() {
            local.push('-');
        }
        local.extend(letter.to_lowercase());
    }
    local
}

/// The short form of a function is a tag (`!GetAtt`), the long form a member (`Fn::GetAtt`).
fn json_of(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Tagged(tag, inner) => match tag.suffix.as_str() {
            "Ref" => json!({ "Ref": json_of(inner) }),
            name => json!({ (format!("Fn::{name}")): json_of(inner) }),
        },
        Yaml::Sequence(items) => items.iter().map(json_of).collect(),
        Yaml::Mapping(members) => {
            let members = members.iter().map(|(name, item)| (name.as_str().unwrap().to_owned(), json_of(item)));
            members.collect::<Map<_, _>>().into()
        }
        Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
        Yaml::Value(Scalar::Integer(number)) => (*number).into(),
        Yaml::Value(Scalar::Boolean(truth)) => (*truth).into(),
        Yaml::Value(Scalar::Null) => Value::Null,
        other => panic!("{other:?} is not known here"),
    }
}

#[test]
fn the_template_is_read_with_its_functions_conditions_and_parameters() {
    let statements = |template: &Template| {
        template.properties("OutboxRelayRole")["Policies"][0]["PolicyDocument"]["Statement"].clone()
    };
    let without = statements(&Template::with(&[]));
    assert_eq!(without.as_array().unwrap().len(), 3, "what a condition leaves out is not there: {without}");
    assert_eq!(without[0]["Resource"], arn("dynamodb", "table/idempotency"));
    assert_eq!(without[0]["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"], "local#*");
    assert_eq!(without[2]["Resource"], arn("events", "event-bus/default"));
    let queue = arn("sqs", "receipts");
    let with = statements(&Template::with(&[("OutboxQueueArns", json!([queue]))]));
    assert_eq!((&with[3]["Action"], &with[3]["Resource"]), (&json!("sqs:SendMessage"), &json!([queue])));
    assert_eq!(Template::with(&[]).partition_key("shop-orders"), "order_id");
}
