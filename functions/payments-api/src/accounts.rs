//! The table of accounts, partition key `account_id` (S), and the ledger, partition key `entry_id` (S).

use aws_sdk_dynamodb::{Client, operation::put_item::PutItemError, types::AttributeValue};
use lambda_http::Error;
use lambda_idempotency::{Attempt, StageError, TableWrite};
use serde_json::json;

use crate::{
    account::{Account, Transfer},
    evidence::with_evidence,
    tenant_key::tenant_key,
};

/// The names of the writes of a transfer, by which a refused one is known.
pub(crate) const DEBIT: &str = "debit";
pub(crate) const CREDIT: &str = "credit";

/// The accounts and what moved between them.
pub(crate) struct Accounts {
    client: Client,
    accounts: String,
    ledger: String,
}

impl Accounts {
    pub(crate) const fn new(client: Client, accounts: String, ledger: String) -> Self {
        Self { client, accounts, ledger }
    }

    /// The writes of a transfer: two balances and a row of the ledger. They commit together or not at all.
    pub(crate) fn writes(&self, attempt: &Attempt, transfer: &Transfer) -> Result<[TableWrite; 3], StageError> {
        let tenant = attempt.scope().as_tenant().unwrap_or_default();
        let Transfer { id, asked } = transfer;
        let amount = asked.amount.get();
        let key = |account: &str| json!({ "account_id": tenant_key(tenant, account) });
        let debit = TableWrite::update(&self.accounts, key(asked.from.as_str()), "SET balance = balance - :amount")?
            .only_if("balance >= :amount")
            .value(":amount", amount)?
            .named(DEBIT);
        let credit = TableWrite::increment(&self.accounts, key(asked.to.as_str()), "balance", amount)?
            .only_if("attribute_exists(account_id)")
            .named(CREDIT);
        let entry = json!({
            "entry_id": id, "tenant": tenant, "from": asked.from, "to": asked.to, "amount": amount,
        });
        Ok([debit, credit, TableWrite::insert(&self.ledger, with_evidence(entry, attempt), "entry_id")?])
    }

    /// Opens an account. One that is open stays as it is.
    pub(crate) async fn open(&self, tenant: &str, account: &str, balance: u64) -> Result<bool, Error> {
        let put = self
            .client
            .put_item()
            .table_name(&self.accounts)
            .item("account_id", AttributeValue::S(tenant_key(tenant, account)))
            .item("balance", AttributeValue::N(balance.to_string()))
            .condition_expression("attribute_not_exists(account_id)")
            .send()
            .await;
        match put {
            Ok(_) => Ok(true),
            Err(error) => match error.into_service_error() {
                PutItemError::ConditionalCheckFailedException(_) => Ok(false),
                error => Err(error.into()),
            },
        }
    }

    /// An account, if it is open.
    pub(crate) async fn get(&self, tenant: &str, account: &str) -> Result<Option<Account>, Error> {
        let key = AttributeValue::S(tenant_key(tenant, account));
        let get = self.client.get_item().table_name(&self.accounts).key("account_id", key).consistent_read(true);
        let Some(item) = get.send().await?.item else { return Ok(None) };
        let balance = item.get("balance").and_then(|balance| balance.as_n().ok()?.parse().ok());
        let balance = balance.ok_or_else(|| format!("account {account} is stored in a form that cannot be read"))?;
        Ok(Some(Account { account: account.to_owned(), balance }))
    }
}
