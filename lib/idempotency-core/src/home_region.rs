//! Where a key is claimed, when the table has replicas in several regions.

use std::{fmt, sync::Arc};

use crate::Scope;

type Find = dyn Fn(&Scope) -> Option<String> + Send + Sync;

/// In which region keys are claimed, and which one this is.
///
/// In a global table with eventual consistency a condition is evaluated on the item as its own region has it, and simultaneous writes are
/// settled by the last one ("How DynamoDB global tables work", Amazon DynamoDB Developer Guide). So two regions can both claim a key, and
/// neither is told. Only one region may claim it: its home.
///
/// The home is no part of a record's key. When another region becomes home, it finds there what the former one did.
///
/// ```
/// use idempotency_core::{HomeRegion, Scope};
///
/// let ireland = HomeRegion::new("eu-west-1", "eu-west-1");
/// assert!(ireland.check(&Scope::none()).is_ok());
///
/// // Tenants have homes of their own. Who has none is served nowhere.
/// let virginia = HomeRegion::by_scope("us-east-1", |scope| match scope.as_tenant()? {
///     "acme" => Some("us-east-1".to_owned()),
///     "globex" => Some("eu-west-1".to_owned()),
///     _ => None,
/// });
/// assert!(virginia.check(&Scope::tenant("acme").unwrap()).is_ok());
/// assert_eq!(virginia.check(&Scope::tenant("globex").unwrap()).unwrap_err().home(), Some("eu-west-1"));
/// assert!(virginia.check(&Scope::none()).is_err());
/// ```
#[derive(Clone)]
pub struct HomeRegion {
    here: Arc<str>,
    find: Arc<Find>,
}

/// The key is claimed in another region, or nobody says in which. Nothing was looked at and nothing ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotHome {
    here: Arc<str>,
    home: Option<String>,
}

impl HomeRegion {
    /// All keys are claimed in `home`. `here` is the region of the replica that this function writes to.
    pub fn new(here: impl Into<String>, home: impl Into<String>) -> Self {
        let home = home.into();
        Self::by_scope(here, move |_| Some(home.clone()))
    }

    /// The keys of each scope are claimed in the region that `find` says; where it says none, nowhere. `here` is the region of the replica
    /// that this function writes to.
    ///
    /// It is asked at every claim and must not wait. All regions must have the same answer at all times: see the guide to several regions
    /// for how to change it.
    pub fn by_scope(here: impl Into<String>, find: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { here: here.into().into(), find: Arc::new(find) }
    }

    /// Whether keys of this scope are claimed here.
    ///
    /// # Errors
    ///
    /// [`NotHome`] when they are claimed elsewhere, or nobody says where. A blank name is no region.
    pub fn check(&self, scope: &Scope) -> Result<(), NotHome> {
        let home = (self.find)(scope).filter(|home| !home.trim().is_empty());
        match home.as_deref() == Some(&*self.here) {
            true => Ok(()),
            false => Err(NotHome { here: Arc::clone(&self.here), home }),
        }
    }
}

impl NotHome {
    /// Where the key is claimed, if anybody says so.
    pub fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    /// Where this is.
    pub fn here(&self) -> &str {
        &self.here
    }
}

impl fmt::Display for NotHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.home {
            Some(home) => {
                write!(f, "the key is claimed in {home} only, and this is {}; send the request there", self.here)
            }
            None => write!(f, "nothing says in which region the key is claimed, so it is not claimed in {}", self.here),
        }
    }
}

impl std::error::Error for NotHome {}

impl fmt::Debug for HomeRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HomeRegion").field("here", &self.here).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_at_home_in_the_region_that_is_named_and_in_no_other() {
        let of = |here: &str, home: &str| HomeRegion::new(here, home).check(&Scope::none());
        assert_eq!(of("eu-west-1", "eu-west-1"), Ok(()));
        let elsewhere = of("us-east-1", "eu-west-1").unwrap_err();
        assert_eq!((elsewhere.here(), elsewhere.home()), ("us-east-1", Some("eu-west-1")));
        assert!(elsewhere.to_string().contains("send the request there"));
        for almost in ["EU-WEST-1", "eu-west-1 ", "eu-west-1a", "eu-west-", ""] {
            assert!(of("eu-west-1", almost).is_err(), "{almost:?}");
        }
    }

    #[test]
    fn nothing_is_at_home_where_nothing_is_said() {
        for blank in ["", " "] {
            let home = HomeRegion::new(blank, blank).check(&Scope::none()).unwrap_err();
            assert_eq!(
                home.home(),
                None,
                "a function that does not know where it is must not meet a home that nobody named"
            );
        }
        let nobody = HomeRegion::by_scope("eu-west-1", |scope| scope.as_tenant().map(str::to_owned));
        assert!(nobody.check(&Scope::none()).is_err());
        assert!(nobody.check(&Scope::tenant("eu-west-1").unwrap()).is_ok());
    }
}
