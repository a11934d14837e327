//! The table of claims that were taken in: partition key `claim_key` (S).

use aws_sdk_dynamodb::{Client, error::DisplayErrorContext, types::AttributeValue};
use lambda_idempotency::{ContentId, KeyPartError, StageError, TableWrite, content_id};
use serde::Serialize;

use crate::claim::Claim;

/// What the write of a claim is called when it is refused.
pub(crate) const CLAIM: &str = "claim";

/// The claims.
pub(crate) struct ClaimTable {
    client: Client,
    table: String,
}

/// A claim, and what it is known by.
pub(crate) struct KnownBy<'a> {
    claim: &'a Claim,
    model: &'a str,
    key: ContentId,
    /// The hash of its document.
    document: ContentId,
}

/// A claim that was taken in.
pub(crate) struct KnownClaim {
    /// The hash of its document.
    document: String,
    /// The words that stand beside its chunks.
    pub(crate) summary: String,
}

/// It is not known whether the claim was taken in before.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindError {
    #[error("the table of claims cannot be read: {0}")]
    Request(String),
    #[error("the claim in the table lacks its document's hash or its summary")]
    Incomplete,
}

#[derive(Serialize)]
struct Row<'a> {
    claim_key: String,
    tenant: &'a str,
    claim_id: &'a str,
    model: &'a str,
    document: String,
    chunks: usize,
    summary: &'a str,
}

impl ClaimTable {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Looks whether a claim was taken in for this model, under whatever key.
    ///
    /// # Errors
    ///
    /// [`FindError`] when that is not known.
    pub(crate) async fn find(&self, claim: &KnownBy<'_>) -> Result<Option<KnownClaim>, FindError> {
        let key = AttributeValue::S(claim.key.to_string());
        let get = self.client.get_item().table_name(&self.table).key("claim_key", key);
        let got = get.consistent_read(true).send().await;
        let got = got.map_err(|error| FindError::Request(DisplayErrorContext(error).to_string()))?;
        let Some(mut row) = got.item else { return Ok(None) };
        let mut text = |name| match row.remove(name) {
            Some(AttributeValue::S(text)) => Ok(text),
            _ => Err(FindError::Incomplete),
        };
        Ok(Some(KnownClaim { document: text("document")?, summary: text("summary")? }))
    }

    /// The write that takes a claim in. It is refused if that was done under another key meanwhile.
    pub(crate) fn insert(&self, claim: &KnownBy<'_>, chunks: usize, summary: &str) -> Result<TableWrite, StageError> {
        let row = Row {
            claim_key: claim.key.to_string(),
            tenant: claim.claim.tenant.as_str(),
            claim_id: claim.claim.claim_id.as_str(),
            model: claim.model,
            document: claim.document.to_string(),
            chunks,
            summary,
        };
        Ok(TableWrite::insert(&self.table, row, "claim_key")?.named(CLAIM))
    }
}

impl<'a> KnownBy<'a> {
    /// What a claim is known by, whatever key it comes with.
    ///
    /// # Errors
    ///
    /// When its document is empty.
    pub(crate) fn of(claim: &'a Claim, model: &'a str) -> Result<Self, KeyPartError> {
        let (tenant, claim_id) = (claim.tenant.as_str(), claim.claim_id.as_str());
        let document = claim.document.as_str();
        Ok(Self { claim, model, key: content_id!(tenant, claim_id, model)?, document: content_id!(document)? })
    }
}

impl KnownClaim {
    /// Whether it has this document.
    pub(crate) fn is(&self, claim: &KnownBy<'_>) -> bool {
        self.document == claim.document.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_known_by_its_tenant_id_and_model_and_remembers_its_document() {
        let name = |text: &str| text.to_owned().try_into().unwrap();
        let claim = |tenant: &str, claim_id: &str, document: &str| Claim {
            tenant: name(tenant),
            claim_id: name(claim_id),
            document: document.to_owned(),
        };
        let first = claim("t", "c", "Rain.");
        let known = KnownBy::of(&first, "m").unwrap();
        // What is stored must be found again: this value is a promise.
        assert_eq!(known.key.to_string(), "947d8a7d52f68fc8685e18bab70e8a661dbaab9013f96a17b34a560429c539f7");
        let stored = KnownClaim { document: known.document.to_string(), summary: String::new() };
        let changed = claim("t", "c", "Hail.");
        let changed = KnownBy::of(&changed, "m").unwrap();
        assert_eq!((changed.key, stored.is(&changed), stored.is(&known)), (known.key, false, true));
        for (other, model) in
            [(claim("u", "c", "Rain."), "m"), (claim("t", "d", "Rain."), "m"), (claim("t", "c", "Rain."), "n")]
        {
            assert_ne!(KnownBy::of(&other, model).unwrap().key, known.key);
        }
    }
}
