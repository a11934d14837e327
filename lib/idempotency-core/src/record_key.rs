//! Where a record stands in the table.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{ExecutionId, IdempotencyKey, Namespace, Operation, Scope, hash::PartsHasher};

/// The partition key of a record: `{namespace}#{operation}#v{version}#{hash}`.
///
/// An operator can read the operation, a policy can limit a function to it by `dynamodb:LeadingKeys`, and nothing
/// secret or of the caller's choosing is in it: scope, route and key go into the hash only. The hash also spreads
/// records over partitions.
///
/// ```
/// use idempotency_core::{IdempotencyKey, Namespace, Operation, RecordKey, Scope};
///
/// let key = RecordKey::new(
///     &Namespace::new("prod").unwrap(),
///     &Operation::new("create-charge", 1).unwrap(),
///     &Scope::tenant("tenant-7").unwrap(),
///     &IdempotencyKey::new("order-42").unwrap(),
/// );
/// assert!(key.as_str().starts_with("prod#create-charge#v1#"));
/// assert_eq!(key.operation_name(), Some("create-charge"));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(String);

impl RecordKey {
    /// Computes the partition key. This happens once per request; nothing derives it again after the handler ran.
    pub fn new(namespace: &Namespace, operation: &Operation, scope: &Scope, key: &IdempotencyKey) -> Self {
        let hash = PartsHasher::new("idempotency-record-key-v1")
            .optional(scope.as_tenant())
            .optional(operation.route())
            .part(key.as_str().as_bytes())
            .finish();
        Self(format!("{}#{operation}#{}", namespace.as_str(), URL_SAFE_NO_PAD.encode(hash)))
    }

    /// Takes a partition key as it is stored in the table.
    pub fn from_stored(pk: impl Into<String>) -> Self {
        Self(pk.into())
    }

    /// The partition key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the operation, without its version; `None` if this is no key of a record.
    pub fn operation_name(&self) -> Option<&str> {
        self.0.split('#').nth(1)
    }

    /// A key for one named step below this record, to pass to a callee that honours idempotency keys. `renewed` is the generation, where
    /// an expired one stood in its place.
    pub(crate) fn step_key(&self, name: &str, renewed: Option<ExecutionId>) -> String {
        let hash = match renewed {
            None => PartsHasher::new("idempotency-step-key-v1"),
            Some(execution) => PartsHasher::new("idempotency-renewed-step-key-v1").part(execution.as_bytes()),
        };
        URL_SAFE_NO_PAD.encode(hash.part(self.0.as_bytes()).part(name.as_bytes()).finish())
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordKey({})", self.0)
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{option::of, prelude::*};

    use super::*;

    fn record_key(namespace: &str, operation: &Operation, scope: &Scope, key: &str) -> RecordKey {
        RecordKey::new(&Namespace::new(namespace).unwrap(), operation, scope, &IdempotencyKey::new(key).unwrap())
    }

    /// What makes a record this record: namespace, operation, version, route, scope, key.
    type Identity = (String, String, u32, Option<String>, Option<String>, String);

    /// Identities out of few letters, so that two with the same text in other places are common.
    fn identity() -> impl Strategy<Value = Identity> {
        (
            "[a.]{1,2}",
            "[a.]{1,2}",
            prop_oneof![Just(1_u32), Just(11), Just(u32::MAX)],
            of("[a#]{0,2}"),
            of("[a#]{1,2}"),
            "[a#]{1,2}",
        )
    }

    fn of_identity((namespace, operation, version, route, scope, key): &Identity) -> RecordKey {
        let operation = Operation::new(operation, *version).unwrap();
        let operation = route.iter().fold(operation, |operation, route| operation.on_route(route));
        let scope = scope.as_ref().map_or(Scope::none(), |tenant| Scope::tenant(tenant).unwrap());
        record_key(namespace, &operation, &scope, key)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn only_equal_identities_share_a_record(a in identity(), b in identity()) {
            prop_assert_eq!(of_identity(&a) == of_identity(&b), a == b);
        }

        #[test]
        fn a_text_cut_into_route_scope_and_key_in_another_way_is_another_record(
            text in "[a#]{5}",
            a in (0..3_usize, 1..3_usize),
            b in (0..3_usize, 1..3_usize),
        ) {
            let cut = |(route, scope): (usize, usize)| {
                let (route, rest) = text.split_at(route);
                let (scope, key) = rest.split_at(scope);
                ("dev".into(), "charge".into(), 1, Some(route.into()), Some(scope.into()), key.into())
            };
            let (a, b): (Identity, Identity) = (cut(a), cut(b));
            prop_assert_eq!(of_identity(&a) == of_identity(&b), a == b);
        }

        #[test]
        fn nothing_but_namespace_and_operation_can_be_read_in_a_record_key(
            scope in "\\PC{1,40}[a-z]",
            key in "[!-~]{1,255}",
            route in "\\PC{0,40}",
        ) {
            let identity = ("dev".into(), "charge".into(), 3, Some(route), Some(scope), key);
            let pk = of_identity(&identity).to_string();
            let hash = pk.strip_prefix("dev#charge#v3#").unwrap();
            prop_assert_eq!(URL_SAFE_NO_PAD.decode(hash).unwrap().len(), 32);
        }

        #[test]
        fn every_step_name_has_a_key_of_its_own(a in "[a#]{0,3}", b in "[a#]{0,3}", record in identity(), other in identity()) {
            let (one, two) = (of_identity(&record), of_identity(&other));
            prop_assert_eq!(one.step_key(&a, None) == one.step_key(&b, None), a == b);
            prop_assert_eq!(one.step_key(&a, None) == two.step_key(&a, None), one == two);
            prop_assert!(!one.as_str().ends_with(&one.step_key(&a, None)));
        }
    }

    #[test]
    fn every_part_of_the_identity_separates_records() {
        let operation = Operation::new("charge", 1).unwrap();
        let tenant = Scope::tenant("a").unwrap();
        let keys = [
            record_key("dev", &operation, &tenant, "k"),
            record_key("prod", &operation, &tenant, "k"),
            record_key("dev", &Operation::new("charge", 2).unwrap(), &tenant, "k"),
            record_key("dev", &Operation::new("refund", 1).unwrap(), &tenant, "k"),
            record_key("dev", &operation.on_route("POST /charges"), &tenant, "k"),
            record_key("dev", &operation.on_route("PATCH /charges"), &tenant, "k"),
            record_key("dev", &operation, &Scope::tenant("b").unwrap(), "k"),
            record_key("dev", &operation, &Scope::none(), "k"),
            record_key("dev", &operation, &tenant, "l"),
        ];
        for (i, a) in keys.iter().enumerate() {
            for b in keys.iter().skip(i + 1) {
                assert_ne!(a, b);
            }
        }
        assert_eq!(keys[0], record_key("dev", &operation, &tenant, "k"));
    }

    #[test]
    fn the_stored_form_never_changes() {
        // Keys in flight during an upgrade must keep their place: this value is a promise.
        let operation = Operation::new("charge", 1).unwrap().on_route("POST /charges");
        let key = record_key("dev", &operation, &Scope::tenant("tenant-7").unwrap(), "order-42");
        assert_eq!(key.as_str(), "dev#charge#v1#Ha316Il6OKsAWPsSzQQPRfJgSFyKkBCly_IgVimuCnM");
    }

    #[test]
    fn step_keys_differ_by_step_and_by_record() {
        let operation = Operation::new("charge", 1).unwrap();
        let (a, b) =
            (record_key("dev", &operation, &Scope::none(), "a"), record_key("dev", &operation, &Scope::none(), "b"));
        assert_ne!(a.step_key("charge-card", None), a.step_key("send-mail", None));
        assert_ne!(a.step_key("charge-card", None), b.step_key("charge-card", None));
        assert_eq!(a.step_key("charge-card", None), a.step_key("charge-card", None));
    }
}
