use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// A function's binary could not be found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionBinaryError {
    /// The path of the running program is unknown.
    #[error("cannot tell where the running program is")]
    CurrentExe(#[source] io::Error),
    /// Nothing of that name was built.
    #[error("no binary `{name}` in {}: build it with `cargo build --workspace`", .directory.display())]
    Missing {
        /// The binary's name.
        name: String,
        /// Where it was looked for.
        directory: PathBuf,
    },
}

/// Finds a function's binary in the target directory that the running program was built into.
///
/// A test runs as `target/debug/deps/name-hash` and a CLI as `target/debug/cli`; in both cases the
/// functions of the workspace are in `target/debug`, if they were built. Cargo builds the binaries of
/// the crate under test only, so `cargo build --workspace` (or `cargo test --workspace`) comes first.
///
/// # Errors
///
/// [`FunctionBinaryError::Missing`] names the directory and the command that builds it.
pub fn function_binary(name: &str) -> Result<PathBuf, FunctionBinaryError> {
    let running = env::current_exe().map_err(FunctionBinaryError::CurrentExe)?;
    find_beside(&running, name)
}

fn find_beside(running: &Path, name: &str) -> Result<PathBuf, FunctionBinaryError> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let directory = running.parent().unwrap_or(Path::new("."));
    // Tests and examples run one level below the directory that Cargo puts final binaries into.
    let nested = directory.ends_with("deps") || directory.ends_with("examples");
    let profile = if nested { directory.parent().unwrap_or(directory) } else { directory };
    let path = profile.join(file);
    if path.is_file() {
        return Ok(path);
    }
    Err(FunctionBinaryError::Missing { name: name.to_owned(), directory: profile.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree() -> PathBuf {
        let root = env::temp_dir().join(format!("function-binary-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(root.join("debug/deps")).unwrap();
        fs::write(root.join("debug/my-function"), "").unwrap();
        root
    }

    #[test]
    fn a_test_finds_it_one_level_up_and_a_cli_beside_itself() {
        let root = tree();

        for running in ["debug/deps/some_test-0a1b", "debug/cli"] {
            let found = find_beside(&root.join(running), "my-function").unwrap();
            assert_eq!(found, root.join("debug/my-function"));
        }

        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_missing_one_says_how_to_build_it() {
        let root = tree();

        let error = find_beside(&root.join("debug/cli"), "other").unwrap_err().to_string();

        assert!(error.contains("no binary `other` in"), "{error}");
        assert!(error.contains("cargo build --workspace"), "{error}");
        fs::remove_dir_all(root).unwrap();
    }
}
