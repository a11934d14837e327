//! The table of charges: partition key `charge_id` (S).

use std::collections::HashMap;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use lambda_http::Error;
use lambda_idempotency::Attempt;

use crate::{
    charge::{Amount, Charge, Currency, Name, NewCharge},
    evidence::{CREATED_AT, RECORD, evidence},
};

/// The charges that were made.
pub(crate) struct Charges {
    client: Client,
    table: String,
}

impl Charges {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Stores a charge under its transaction id. Storing the same charge again changes nothing but the time, so an attempt that
    /// follows a lost one may do so.
    pub(crate) async fn put(&self, attempt: &Attempt, charge: &Charge) -> Result<(), Error> {
        let tenant = attempt.scope().as_tenant().unwrap_or_default();
        let (record, created_at) = evidence(attempt);
        self.client
            .put_item()
            .table_name(&self.table)
            .item("charge_id", AttributeValue::S(charge.id.clone()))
            .item("tenant", AttributeValue::S(tenant.to_owned()))
            .item("amount", AttributeValue::N(charge.asked.amount.get().to_string()))
            .item("currency", AttributeValue::S(charge.asked.currency.as_str().to_owned()))
            .item("customer", AttributeValue::S(charge.asked.customer.as_str().to_owned()))
            .item(RECORD, AttributeValue::S(record.to_owned()))
            .item(CREATED_AT, AttributeValue::N(created_at.to_string()))
            .send()
            .await?;
        Ok(())
    }

    /// The charge with this id, if it is this tenant's.
    pub(crate) async fn get(&self, tenant: &str, id: &str) -> Result<Option<Charge>, Error> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.table)
            .key("charge_id", AttributeValue::S(id.to_owned()))
            // A charge is shown from the moment that its creation was answered.
            .consistent_read(true)
            .send()
            .await?;
        let Some(item) = answer.item else { return Ok(None) };
        let owner = item.get("tenant").and_then(|owner| owner.as_s().ok());
        if owner.is_none_or(|owner| owner != tenant) {
            return Ok(None);
        }
        let asked = asked(&item).ok_or_else(|| format!("charge {id} is stored in a form that cannot be read"))?;
        Ok(Some(Charge { id: id.to_owned(), asked }))
    }
}

fn asked(item: &HashMap<String, AttributeValue>) -> Option<NewCharge> {
    let text = |name: &str| item.get(name)?.as_s().ok().cloned();
    Some(NewCharge {
        amount: Amount::try_from(item.get("amount")?.as_n().ok()?.parse::<u64>().ok()?).ok()?,
        currency: Currency::try_from(text("currency")?).ok()?,
        customer: Name::try_from(text("customer")?).ok()?,
    })
}
