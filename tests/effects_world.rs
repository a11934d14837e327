//! Transfers and orders of payments-api: what a test needs of its tables, its provider and its carrier.

use idempotency_dynamodb::outbox_entry_from_item;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Answer, World};

pub(crate) const TENANT: &str = "tenant-7";

impl World {
    /// Sends JSON under a key.
    pub(crate) async fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        let headers = [("idempotency-key", key), ("x-tenant-id", TENANT), ("content-type", "application/json")];
        self.send(Method::POST, path, &headers, body.to_string().into_bytes()).await
    }

    pub(crate) async fn open_account(&self, account: &str, balance: u64) {
        let headers = [("x-tenant-id", TENANT), ("content-type", "application/json")];
        let body = json!({ "balance": balance }).to_string().into_bytes();
        let answer = self.send(Method::PUT, &format!("/accounts/{account}"), &headers, body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }

    pub(crate) async fn balance(&self, account: &str) -> i64 {
        self.get(&format!("/accounts/{account}"), TENANT).await.json()["balance"].as_i64().unwrap()
    }

    pub(crate) async fn transfer(&self, key: &str, from: &str, to: &str, amount: u64) -> Answer {
        self.post("/transfers", key, &json!({ "from": from, "to": to, "amount": amount })).await
    }

    pub(crate) async fn fill_stock(&self, sku: &str, available: u32) {
        let headers = [("x-tenant-id", TENANT), ("content-type", "application/json")];
        let body = json!({ "available": available }).to_string().into_bytes();
        assert_eq!(self.send(Method::PUT, &format!("/stock/{sku}"), &headers, body).await.status, 200);
        self.stack.proxy().clear_requests();
    }

    /// What is left of an item.
    pub(crate) async fn in_stock(&self, sku: &str) -> u64 {
        let (items, stock) = (self.items("stock").await, stock_of(sku));
        items.iter().find(|item| item["sku"] == *stock).unwrap()["available"].as_u64().unwrap()
    }

    /// An order of two of an item for a customer of the same name.
    pub(crate) async fn order(&self, key: &str, sku: &str) -> Answer {
        let order = json!({
            "sku": sku, "quantity": 2, "amount": 4200, "currency": "EUR", "customer": sku, "address": format!("1 {sku} Street"),
        });
        self.post("/orders", key, &order).await
    }

    /// All items of a table, as plain JSON.
    pub(crate) async fn items(&self, table: &str) -> Vec<Value> {
        let scan = self.stack.dynamodb().scan().table_name(table).consistent_read(true).into_paginator().items().send();
        let items: Vec<_> = scan.try_collect().await.unwrap();
        items.into_iter().map(|item| serde_dynamo::from_item(item).unwrap()).collect()
    }

    /// The bodies of all events that are staged and committed.
    pub(crate) async fn staged_events(&self) -> Vec<Value> {
        let beside = self.stack.records().beside().await.unwrap();
        let entries = beside.iter().filter(|item| item["sk"].as_s().unwrap().starts_with("outbox#"));
        entries.map(|item| serde_json::from_str(&outbox_entry_from_item(item).unwrap().body).unwrap()).collect()
    }
}

/// The key of an item in the table of stock.
pub(crate) fn stock_of(sku: &str) -> String {
    format!("{}:{TENANT}:{sku}", TENANT.len())
}
