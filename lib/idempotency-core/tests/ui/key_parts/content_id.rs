use idempotency_core::content_id;

fn main() {
    let _ = content_id!(doc_id = "doc-7", score = 0.5_f64);
    let _ = content_id!();
}
