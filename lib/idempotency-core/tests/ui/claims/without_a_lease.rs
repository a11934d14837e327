use idempotency_core::{IdempotencyKey, Namespace, Operation, Request, Scope, Fingerprint};

fn request(namespace: Namespace, operation: Operation, scope: Scope, key: IdempotencyKey, fingerprint: Fingerprint) -> Request {
    Request { namespace, operation, scope, key, fingerprint }
}

fn main() {}
