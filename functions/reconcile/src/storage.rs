//! Where reports and what is in the works are kept: a bucket, or a folder.

use std::{fs, sync::Arc};

use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion, aws::AmazonS3Builder,
    local::LocalFileSystem, path::Path,
};
use url::Url;

/// A bucket or folder.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    url: String,
}

/// An object, and what it takes to replace it.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) bytes: Vec<u8>,
    pub(crate) version: Version,
}

/// What must be there for an object to be written.
#[derive(Clone, Debug)]
pub(crate) enum Version {
    Nothing,
    This(UpdateVersion),
}

/// Why an object could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StorageError {
    #[error("{0:?} is no place for reports; say s3://bucket/prefix, or file:///folder")]
    Url(String),
    #[error("the folder cannot be made")]
    Folder(#[source] std::io::Error),
    /// Another invocation has been quicker.
    #[error("another invocation is at the same work")]
    Overtaken,
    #[error(
        "the bucket gives no answer, or refuses: the function needs s3:GetObject, s3:PutObject and s3:DeleteObject there"
    )]
    Store(#[source] Error),
}

impl Storage {
    /// The storage at a URL. Makes no request.
    pub(crate) fn at(url: &str) -> Result<Self, StorageError> {
        let no_place = || StorageError::Url(url.to_owned());
        let parsed = Url::parse(url).map_err(|_| no_place())?;
        let (store, prefix): (Arc<dyn ObjectStore>, Path) = match (parsed.scheme(), parsed.host_str()) {
            ("s3", Some(bucket)) => {
                // Region, credentials and AWS_ENDPOINT_URL_S3, as Lambda or a developer sets them.
                let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
                let is_local = std::env::var("AWS_ENDPOINT_URL_S3").is_ok_and(|url| url.starts_with("http://"));
                let builder = builder.with_allow_http(is_local);
                (Arc::new(builder.build().map_err(StorageError::Store)?), Path::from(parsed.path()))
            }
            ("file", None) => {
                let folder = parsed.to_file_path().map_err(|()| no_place())?;
                fs::create_dir_all(&folder).map_err(StorageError::Folder)?;
                let store = LocalFileSystem::new_with_prefix(folder).map_err(StorageError::Store)?;
                (Arc::new(store), Path::default())
            }
            _ => return Err(no_place()),
        };
        Ok(Self { store, prefix, url: url.trim_end_matches('/').to_owned() })
    }

    /// The name that people know an object by.
    pub(crate) fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    /// An object; `None` if there is none.
    pub(crate) async fn read(&self, name: &str) -> Result<Option<Stored>, StorageError> {
        let found = match self.store.get(&self.path(name)).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(StorageError::Store(error)),
        };
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        let bytes = found.bytes().await.map_err(StorageError::Store)?;
        Ok(Some(Stored { bytes: bytes.into(), version: Version::This(version) }))
    }

    /// Writes an object, whatever is there.
    pub(crate) async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), StorageError> {
        let put = self.store.put(&self.path(name), PutPayload::from(bytes)).await;
        put.map(drop).map_err(StorageError::Store)
    }

    /// Writes an object where this is there, and says what is there then. Nobody else must write the same bytes.
    ///
    /// A write whose answer was lost is repeated by the client, and then the condition fails because of the first one. So where it fails,
    /// what is there is looked at: one's own bytes are one's own write.
    pub(crate) async fn replace(
        &self,
        name: &str,
        bytes: Vec<u8>,
        expected: &Version,
    ) -> Result<Version, StorageError> {
        let mode = match expected {
            Version::Nothing => PutMode::Create,
            Version::This(version) => PutMode::Update(version.clone()),
        };
        let path = self.path(name);
        let put = |mode| self.store.put_opts(&path, PutPayload::from(bytes.clone()), PutOptions::from(mode));
        let put = match put(mode).await {
            // A folder knows no versions. Nobody but its owner works there.
            Err(Error::NotImplemented { .. }) => put(PutMode::Overwrite).await,
            put => put,
        };
        match put {
            Ok(written) => Ok(Version::This(UpdateVersion { e_tag: written.e_tag, version: written.version })),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => match self.read(name).await? {
                Some(stored) if stored.bytes == bytes => Ok(stored.version),
                _ => Err(StorageError::Overtaken),
            },
            Err(error) => Err(StorageError::Store(error)),
        }
    }

    /// Deletes an object, if it is there.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), StorageError> {
        match self.store.delete(&self.path(name)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(StorageError::Store(error)),
        }
    }

    fn path(&self, name: &str) -> Path {
        let name = Path::from(name);
        self.prefix.parts().chain(name.parts()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_written_is_read_and_what_is_there_is_not_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::at(&format!("file://{}/in/here", folder.path().display())).unwrap();
        assert!(storage.read("a/b").await.unwrap().is_none());
        storage.replace("a/b", b"one".into(), &Version::Nothing).await.unwrap();
        let again = storage.replace("a/b", b"two".into(), &Version::Nothing).await;
        assert!(matches!(again, Err(StorageError::Overtaken)), "{again:?}");
        let found = storage.read("a/b").await.unwrap().unwrap();
        assert_eq!(found.bytes, b"one");
        storage.replace("a/b", b"three".into(), &found.version).await.unwrap();
        assert_eq!(storage.read("a/b").await.unwrap().unwrap().bytes, b"three");
        storage.delete("a/b").await.unwrap();
        storage.delete("a/b").await.unwrap();
        assert!(storage.read("a/b").await.unwrap().is_none());
    }

    #[test]
    fn a_place_that_is_none_is_told() {
        for url in ["bucket", "https://bucket/prefix", "s3:///prefix", "file://relative/folder"] {
            let told = Storage::at(url).unwrap_err().to_string();
            assert!(told.contains("s3://bucket/prefix"), "{url}: {told}");
        }
    }
}
