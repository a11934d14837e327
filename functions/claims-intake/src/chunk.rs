//! A chunk of a document.

use lambda_idempotency::{ContentId, KeyPartError, content_id};

use crate::{claim::Claim, split::split};

/// The most characters of a chunk. Documents that are taken in already would be split otherwise with another number: change the
/// model's name too.
const LARGEST: usize = 1000;

/// A chunk of a claim's document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) id: ContentId,
    pub(crate) claim: &'a Claim,
    /// Its place in the document, from 0.
    pub(crate) index: usize,
    pub(crate) text: &'a str,
    pub(crate) model: &'a str,
}

/// The chunks of a claim's document for this model.
pub(crate) fn chunks<'a>(claim: &'a Claim, model: &'a str) -> Result<Vec<Chunk<'a>>, KeyPartError> {
    let (tenant, claim_id) = (claim.tenant.as_str(), claim.claim_id.as_str());
    // Two documents that are on their way for one claim never write over each other's chunks, and the refused one's can be removed.
    let document = content_id!(document = claim.document.as_str())?.to_string();
    let document = document.as_str();
    let chunk = |(index, text): (usize, &'a str)| {
        let id = content_id!(tenant, claim_id, document, chunk = index, model)?;
        Ok(Chunk { id, claim, index, text, model })
    };
    split(&claim.document, LARGEST).into_iter().enumerate().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn ids(tenant: &str, claim_id: &str, document: &str, model: &str) -> Vec<String> {
        let name = |text: &str| text.to_owned().try_into().unwrap();
        let claim = Claim { tenant: name(tenant), claim_id: name(claim_id), document: document.to_owned() };
        chunks(&claim, model).unwrap().iter().map(|chunk| chunk.id.to_string()).collect()
    }

    #[test]
    fn a_chunk_has_the_id_of_its_tenant_claim_document_place_and_model() {
        let document = "x".repeat(3 * LARGEST);
        let known = ids("t", "c", &document, "m");
        assert_eq!(known.len(), 3);
        // What is stored must be found again: this value is a promise.
        assert_eq!(known[0], "ffcee540c0c264fd0bd74d6c263f43a043f56856d61251b3b366f839c1f568bb");
        assert_eq!(ids("t", "c", &document, "m"), known, "a replay stores the same chunks");
        let others = [ids("t2", "c", &document, "m"), ids("t", "c2", &document, "m"), ids("t", "c", &document, "m2")];
        // Its first two chunks have the same texts in the same places.
        let longer = ids("t", "c", &"x".repeat(3 * LARGEST + 1), "m");
        let all: BTreeSet<_> = others.iter().flatten().chain(&known).chain(&longer).collect();
        assert_eq!(all.len(), 16);
    }
}
