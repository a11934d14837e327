//! Where something of a tenant's stands.

/// The key of what a tenant names so. The length keeps apart what a tenant's name and its own could spell together.
pub(crate) fn tenant_key(tenant: &str, name: &str) -> String {
    format!("{}:{tenant}:{name}", tenant.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tenants_never_share_a_key() {
        assert_ne!(tenant_key("a:b", "c"), tenant_key("a", "b:c"));
        assert_ne!(tenant_key("1", "a"), tenant_key("", "1:a"));
    }
}
