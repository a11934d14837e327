//! Batches: each entry succeeds or fails by itself.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::error::code;
use super::fields::Fields;
use super::message;
use crate::sqs::SqsError;
use crate::sqs::config::LARGEST_MESSAGE;
use crate::sqs::shared::Shared;

/// "Amazon SQS message quotas", message batch.
const MOST_ENTRIES: usize = 10;

pub(super) fn send(shared: &Shared, fields: &Fields) -> Result<Value, SqsError> {
    let queue = fields.queue()?;
    let entries = entries(fields)?;
    // Entries that are no messages fail by themselves below.
    let size = entries.iter().filter_map(|entry| message::read(entry).ok()).map(|message| message.size()).sum();
    if size > LARGEST_MESSAGE {
        return Err(SqsError::TooLarge { size, limit: LARGEST_MESSAGE });
    }
    each(fields, |entry| message::send_entry(shared, queue, entry))
}

/// Does `act` for each entry and sorts the answers.
pub(super) fn each(fields: &Fields, act: impl Fn(&Fields) -> Result<Value, SqsError>) -> Result<Value, SqsError> {
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for entry in entries(fields)? {
        let id = entry.required("Id")?;
        match act(&entry) {
            Ok(mut answer) => {
                if let Some(answer) = answer.as_object_mut() {
                    answer.insert("Id".to_owned(), id.into());
                }
                successful.push(answer);
            }
            // Not a failure of one entry.
            Err(error @ SqsError::NoSuchQueue { .. }) => return Err(error),
            Err(error) => {
                let (_, code) = code(&error);
                failed.push(json!({ "Id": id, "SenderFault": true, "Code": code, "Message": error.to_string() }));
            }
        }
    }
    Ok(json!({ "Successful": successful, "Failed": failed }))
}

fn entries(fields: &Fields) -> Result<Vec<Fields>, SqsError> {
    let entries = fields.list("Entries").iter().map(Fields::of).collect::<Result<Vec<_>, _>>()?;
    if entries.is_empty() {
        return Err(SqsError::EmptyBatch);
    }
    if entries.len() > MOST_ENTRIES {
        return Err(SqsError::TooManyEntries { count: entries.len() });
    }
    let mut ids = HashSet::new();
    for entry in &entries {
        let id = entry.required("Id")?;
        if !ids.insert(id) {
            return Err(SqsError::RepeatedEntryId { id: id.to_owned() });
        }
    }
    Ok(entries)
}
