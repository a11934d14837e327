//! Many conditional writes by few requests.
//!
//! One `BatchExecuteStatement` has up to 25 statements, each with an answer of its own. What it leaves open is settled by a single
//! conditional put, which is safe to repeat: a caller recognises its own record.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::{
    error::ProvideErrorMetadata,
    types::{BatchStatementErrorCodeEnum, BatchStatementResponse},
};
use futures::{StreamExt, stream};
use idempotency_core::{RecordKey, Store, StoreError, Write, Written};

use crate::{
    DynamoDbStore,
    batch_read::Read,
    deadline::Deadline,
    error::classify,
    item::{item_from_record, item_size, record_from_item},
    statement::statement,
    store::IN_FLIGHT,
};

/// The most statements of one batch (API Reference, "BatchExecuteStatement").
const STATEMENTS: usize = 25;

type Answer = Result<Written, StoreError>;

/// Where one write stands.
enum Member {
    Answered(Answer),
    /// Refused, and the record that is stored is not told: `DuplicateItem` has none.
    Refused,
    /// To be written alone.
    Open(Option<Denied>),
}

/// A batch was refused for good, with this error code.
enum Denied {
    Write(String),
    Read(String),
}

impl DynamoDbStore {
    /// Carries out each write, by `BatchExecuteStatement` where that is answered and one by one else.
    pub(crate) async fn write_together(&self, writes: &[Write], deadline: Deadline) -> Vec<Answer> {
        let members = self.write_batches(writes, deadline).await;
        let members = self.look(writes, members, deadline).await;
        let mut settled = Vec::with_capacity(writes.len());
        for (write, member) in writes.iter().zip(members) {
            settled.push(self.settle(write, member, deadline));
        }
        stream::iter(settled).buffered(IN_FLIGHT).collect().await
    }

    /// Sends all batches side by side.
    async fn write_batches(&self, writes: &[Write], deadline: Deadline) -> Vec<Member> {
        let mut members: Vec<Member> = writes.iter().map(|_| Member::Open(None)).collect();
        if self.batches.writes.is_missing() {
            return members;
        }
        let groups = groups(writes);
        let batches: Vec<_> = groups.iter().map(|group| self.write_batch(group, deadline)).collect();
        let answers: Vec<_> = stream::iter(batches).buffer_unordered(IN_FLIGHT).flat_map(stream::iter).collect().await;
        for (index, answer) in answers {
            if let Some(member) = members.get_mut(index) {
                *member = answer;
            }
        }
        members
    }

    /// One `BatchExecuteStatement`. Its answers have the statements' order (API Reference, "BatchExecuteStatement").
    async fn write_batch(&self, group: &[(usize, &Write)], deadline: Deadline) -> Vec<(usize, Member)> {
        let open = |denied: Option<&str>| {
            let member =
                |(index, _): &(usize, _)| (*index, Member::Open(denied.map(|code| Denied::Write(code.into()))));
            group.iter().map(member).collect()
        };
        // A batch of one would save nothing.
        if group.len() < 2 {
            return open(None);
        }
        let statements = group.iter().map(|(_, write)| statement(self.table(), write)).collect::<Result<Vec<_>, _>>();
        let Ok(statements) = statements else { return open(None) };
        for (_, write) in group {
            self.watch.wrote(write.record(), || item_size(&item_from_record(write.record())));
        }
        let send = self.client().batch_execute_statement().set_statements(Some(statements)).send();
        let responses = match self.watch.limit("BatchExecuteStatement", deadline, send).await {
            Ok(Ok(output)) => output.responses.unwrap_or_default(),
            Ok(Err(error)) => {
                let code = error.code().unwrap_or_default().to_owned();
                let denied = matches!(classify(error), StoreError::Refused(_));
                return open(denied.then_some(&code));
            }
            Err(_late) => return open(None),
        };
        let mut answers: Vec<(usize, Member)> = open(None);
        for ((_, member), response) in answers.iter_mut().zip(responses) {
            *member = Member::from(response);
        }
        answers
    }

    /// Reads the records that refused a write and were not told.
    async fn look(&self, writes: &[Write], mut members: Vec<Member>, deadline: Deadline) -> Vec<Member> {
        let refused = writes.iter().zip(&members).filter(|(_, member)| matches!(member, Member::Refused));
        let keys: BTreeSet<&RecordKey> = refused.map(|(write, _)| &write.record().key).collect();
        let found = match self.batches.reads.is_missing() {
            true => BTreeMap::new(),
            false => self.read_batches(&keys, deadline).await,
        };
        for (write, member) in writes.iter().zip(&mut members) {
            if matches!(member, Member::Refused) {
                *member = seen(write, found.get(&write.record().key));
            }
        }
        members
    }

    /// The answer, by a single write if there is none yet.
    async fn settle(&self, write: &Write, member: Member, deadline: Deadline) -> Answer {
        let denied = match member {
            Member::Answered(answer) => return answer,
            Member::Refused => None,
            Member::Open(denied) => denied,
        };
        let answer = self.write(write, deadline.left()).await;
        match (denied, &answer) {
            (Some(Denied::Read(code)), Ok(_)) => self.note_reads_missing(&code),
            (Some(Denied::Write(code)), Ok(_)) => {
                let actions = "dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate";
                self.batches.writes.note_missing("BatchExecuteStatement", actions, &code);
            }
            _ => {}
        }
        answer
    }
}

/// Groups of writes with their places. DynamoDB refuses a batch in which two statements have one key, so the second write of a key
/// is in another batch.
fn groups(writes: &[Write]) -> Vec<Vec<(usize, &Write)>> {
    let mut earlier: HashMap<&RecordKey, usize> = HashMap::new();
    let mut layers: Vec<Vec<(usize, &Write)>> = Vec::new();
    for place in writes.iter().enumerate() {
        let count = earlier.entry(&place.1.record().key).or_default();
        match layers.get_mut(*count) {
            Some(layer) => layer.push(place),
            None => layers.push(vec![place]),
        }
        *count += 1;
    }
    layers.iter().flat_map(|layer| layer.chunks(STATEMENTS)).map(<[_]>::to_vec).collect()
}

/// What a look at the stored record says of a write that was refused a moment before.
fn seen(write: &Write, found: Option<&Read>) -> Member {
    match (write, found) {
        // It is gone since, or it is what the write expects: by now nothing stands against the write.
        (Write::Insert(_), Some(Read::Told(Ok(None)))) => Member::Open(None),
        (Write::Replace { expected, .. }, Some(Read::Told(Ok(Some(old))))) if old.version() == *expected => {
            Member::Open(None)
        }
        (_, Some(Read::Told(Ok(old)))) => Member::Answered(Ok(Written::Refused(old.clone()))),
        (_, Some(Read::Told(Err(error)))) => Member::Answered(Err(error.clone().into())),
        // A single write shows the record too, and needs no permission to read.
        (_, Some(Read::Untold(denied))) => Member::Open(denied.clone().map(Denied::Read)),
        (_, None) => Member::Open(None),
    }
}

impl From<BatchStatementResponse> for Member {
    fn from(response: BatchStatementResponse) -> Self {
        use BatchStatementErrorCodeEnum as Code;

        let Some(error) = response.error else { return Self::Answered(Ok(Written::Written)) };
        match (error.code, error.item) {
            (Some(Code::ConditionalCheckFailed | Code::DuplicateItem), Some(old)) => {
                Self::Answered(record_from_item(&old).map(|old| Written::Refused(Some(old))).map_err(StoreError::from))
            }
            (Some(Code::ConditionalCheckFailed | Code::DuplicateItem), None) => Self::Refused,
            (Some(code @ (Code::AccessDenied | Code::ResourceNotFound | Code::ValidationError)), _) => {
                Self::Open(Some(Denied::Write(code.as_str().to_owned())))
            }
            // Throttled, an error on the server's side, or something unheard of.
            _ => Self::Open(None),
        }
    }
}
