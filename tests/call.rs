//! What a request asks IAM for: a request may be several calls, each with an action, a resource and what conditions look at.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::template::{Template, arn};

/// One action on one resource.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) action: String,
    pub(crate) resource: String,
    /// Values by condition key.
    context: BTreeMap<&'static str, Vec<String>>,
}

impl Call {
    /// What the call has of a condition key.
    pub(crate) fn values(&self, key: &str) -> &[String] {
        self.context.get(key).map_or(&[], Vec::as_slice)
    }

    fn on(service: &str, action: &str, resource: &str) -> Self {
        Self { action: format!("{service}:{action}"), resource: arn(service, resource), context: BTreeMap::new() }
    }

    fn on_bucket(action: &str, resource: &str) -> Self {
        Self { action: format!("s3:{action}"), resource: format!("arn:aws:s3:::{resource}"), context: BTreeMap::new() }
    }

    fn context(mut self, key: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        self.context.insert(key, values.into_iter().collect());
        self
    }
}

/// The calls of a request for this operation.
pub(crate) fn calls(operation: &str, body: &Value, template: &Template) -> Vec<Call> {
    match operation {
        // "Using IAM with DynamoDB transactions" (Amazon DynamoDB Developer Guide): what each of its actions would need alone.
        "TransactWriteItems" => {
            members(&body["TransactItems"]).map(|(kind, action)| transacted(kind, action, template)).collect()
        }
        "BatchExecuteStatement" => array(&body["Statements"]).map(|statement| stated(statement, template)).collect(),
        // These have permissions of their own ("Actions, resources, and condition keys for Amazon DynamoDB", Service Authorization
        // Reference), one for each table.
        "BatchGetItem" => object(&body["RequestItems"])
            .map(|(table, asked)| on_keys(operation, table, array(&asked["Keys"]), template))
            .collect(),
        "BatchWriteItem" => object(&body["RequestItems"])
            .map(|(table, writes)| {
                let items = array(writes)
                    .map(|write| write.get("PutRequest").map_or(&write["DeleteRequest"]["Key"], |put| &put["Item"]));
                on_keys(operation, table, items, template)
            })
            .collect(),
        "PutItem" | "GetItem" | "UpdateItem" | "DeleteItem" => vec![on_item(operation, body, template)],
        "Query" => vec![queried(body, template)],
        "PutEvents" => {
            let bus = |entry: &Value| entry["EventBusName"].as_str().unwrap_or("default").to_owned();
            array(&body["Entries"])
                .map(|entry| Call::on("events", "PutEvents", &format!("event-bus/{}", bus(entry))))
                .collect()
        }
        // "Actions, resources, and condition keys for Amazon SQS" (Service Authorization Reference) has none for batches.
        "SendMessageBatch" | "SendMessage" => {
            let (_, queue) = text(&body["QueueUrl"]).rsplit_once('/').unwrap();
            vec![Call::on("sqs", "SendMessage", queue)]
        }
        // They name no key.
        "Scan" | "DescribeTable" => {
            vec![Call::on("dynamodb", operation, &format!("table/{}", text(&body["TableName"])))]
        }
        "GetObject" | "PutObject" | "DeleteObject" => {
            vec![Call::on_bucket(operation, &format!("{}/{}", text(&body["Bucket"]), text(&body["Key"])))]
        }
        "ListBucket" => vec![Call::on_bucket(operation, text(&body["Bucket"]))],
        other => panic!("it is not known here what {other} needs"),
    }
}

fn transacted(kind: &str, action: &Value, template: &Template) -> Call {
    let needed = match kind {
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        "Delete" => "DeleteItem",
        "ConditionCheck" => "ConditionCheckItem",
        other => panic!("a transaction has no {other}"),
    };
    on_item(needed, action, template)
}

/// A call about one item. Attributes are those that are written, named in an expression, or part of the key ("Using IAM policy conditions for
/// fine-grained access control", `dynamodb:Attributes`).
fn on_item(action: &str, body: &Value, template: &Template) -> Call {
    let table = text(&body["TableName"]);
    let item = body["Item"].as_object().or(body["Key"].as_object()).unwrap();
    let expressions = ["UpdateExpression", "ConditionExpression", "ProjectionExpression"];
    let named =
        expressions.iter().filter_map(|name| body[*name].as_str()).flat_map(|expression| names(expression, body));
    let call = on_keys(action, table, [&Value::Object(item.clone())].into_iter(), template);
    let call = call.context("dynamodb:Attributes", item.keys().cloned().chain(named));
    match body["ReturnValues"].as_str() {
        Some(values) => call.context("dynamodb:ReturnValues", [values.to_owned()]),
        None => call,
    }
}

fn on_keys<'a>(action: &str, table: &str, items: impl Iterator<Item = &'a Value>, template: &Template) -> Call {
    let key = template.partition_key(table);
    let keys: Vec<_> = items.map(|item| text(&item[&key]["S"]).to_owned()).collect();
    Call::on("dynamodb", action, &format!("table/{table}")).context("dynamodb:LeadingKeys", keys)
}

fn queried(body: &Value, template: &Template) -> Call {
    let table = text(&body["TableName"]);
    let resource = match body["IndexName"].as_str() {
        Some(index) => format!("table/{table}/index/{index}"),
        None => format!("table/{table}"),
    };
    let condition = text(&body["KeyConditionExpression"]);
    let equal = condition.split(" AND ").filter_map(|term| term.split_once(" = "));
    let key = template.partition_key(table);
    let (_, value) = equal.into_iter().find(|(name, _)| names(name, body) == [key.clone()]).unwrap();
    let value = text(&body["ExpressionAttributeValues"][value.trim()]["S"]);
    Call::on("dynamodb", "Query", &resource).context("dynamodb:LeadingKeys", [value.to_owned()])
}

/// A PartiQL statement ("IAM security policies with PartiQL for DynamoDB", Amazon DynamoDB Developer Guide). Its parameters come in the
/// order of its question marks.
fn stated(statement: &Value, template: &Template) -> Call {
    let words = text(&statement["Statement"]);
    let table = words.split('"').nth(1).unwrap();
    let key = template.partition_key(table);
    let (action, marked) = match words.split(' ').next() {
        Some("INSERT") => ("PartiQLInsert", format!("'{key}': ?")),
        Some("UPDATE") => ("PartiQLUpdate", format!("\"{key}\" = ?")),
        other => panic!("it is not known here what {other:?} needs"),
    };
    let place = words[..words.find(&marked).unwrap()].matches('?').count();
    let value = text(&statement["Parameters"][place]["S"]);
    Call::on("dynamodb", action, &format!("table/{table}")).context("dynamodb:LeadingKeys", [value.to_owned()])
}

/// The attributes that an expression names: words that are neither its own nor values.
fn names(expression: &str, body: &Value) -> Vec<String> {
    const OWN: [&str; 17] = [
        "SET",
        "REMOVE",
        "ADD",
        "DELETE",
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "attribute_exists",
        "attribute_not_exists",
        "attribute_type",
        "begins_with",
        "contains",
        "size",
        "if_not_exists",
        "list_append",
    ];
    let words = expression.split(|letter: char| !(letter.is_alphanumeric() || "_#:".contains(letter)));
    let words = words.filter(|word| !word.is_empty() && !OWN.contains(word));
    let named = words.filter(|word| !word.starts_with(|letter: char| letter == ':' || letter.is_ascii_digit()));
    named
        .map(|word| match word.starts_with('#') {
            true => text(&body["ExpressionAttributeNames"][word]).to_owned(),
            false => word.to_owned(),
        })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().unwrap().iter()
}

/// Each object's only member.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    array(value).flat_map(|item| item.as_object().map(Map::iter).unwrap())
}
