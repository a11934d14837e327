//! Under `cargo run`, the functions are built before they are started.

use std::{
    env, fs,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
};

use crate::CliError;

/// Builds the workspace's functions when this process was started by cargo, in the profile that it was built in.
///
/// `cargo run` builds this package only, and functions are programs of their own: packages in `functions/`, each named as
/// its folder. This package is named too, so that cargo chooses the same dependency features as before and builds none of
/// them a second time.
pub(crate) async fn functions() -> Result<(), CliError> {
    let (Some(cargo), Some(manifest)) = (env::var_os("CARGO"), env::var_os("CARGO_MANIFEST_DIR")) else {
        return Ok(());
    };
    let Some(workspace) = Path::new(&manifest).parent() else { return Ok(()) };
    let mut build = Command::new(cargo);
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_the_outer_cargo)) {
        build.env_remove(name);
    }
    build.args(["build", "--bins", "--package", env!("CARGO_PKG_NAME")]);
    // The first time takes minutes, and who waits should see it go on.
    if !std::io::stderr().is_terminal() {
        build.arg("--quiet");
    }
    for function in packages(&workspace.join("functions"))? {
        build.args(["--package", &function]);
    }
    if let Some(profile) = profile(env::current_exe()?) {
        build.args(["--profile", &profile]);
    }
    eprintln!("building the functions (the first time takes minutes) …");
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut build = build.current_dir(workspace).kill_on_drop(true).spawn()?;
    let status = tokio::select! {
        status = build.wait() => status?,
        _ = interrupt.recv() => return stop(build).await,
        _ = terminate.recv() => return stop(build).await,
    };
    if status.success() { Ok(()) } else { Err(CliError::Build(status.to_string())) }
}

/// Leaves no build behind.
async fn stop(mut build: tokio::process::Child) -> Result<(), CliError> {
    build.kill().await?;
    Err(CliError::Build("was stopped by a signal".to_owned()))
}

/// Whether a variable was set by the cargo that runs this package, about this package. Crates whose build depends on such a
/// variable would be built anew for the inner cargo, and then again for the outer one.
fn is_of_the_outer_cargo(name: &str) -> bool {
    name == "CARGO"
        || ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|set| name.starts_with(set))
}

/// The packages below a folder.
fn packages(folder: &Path) -> Result<Vec<String>, CliError> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            packages.extend(entry.file_name().into_string());
        }
    }
    packages.sort();
    Ok(packages)
}

/// The profile of `…/target/{profile}/idempotency`. The profile `dev` puts its files into `debug`.
fn profile(executable: PathBuf) -> Option<String> {
    let directory = executable.parent()?.file_name()?.to_str()?;
    Some(if directory == "debug" { "dev".to_owned() } else { directory.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_cargo_keeps_the_users_settings_and_nothing_about_this_package() {
        for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_PKG_VERSION_MAJOR"]
        {
            assert!(is_of_the_outer_cargo(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_NET_OFFLINE", "CARGO_TERM_COLOR", "PATH"] {
            assert!(!is_of_the_outer_cargo(name), "{name}");
        }
    }

    #[test]
    fn a_profile_is_known_by_its_folder() {
        assert_eq!(profile("/w/target/debug/idempotency".into()).as_deref(), Some("dev"));
        assert_eq!(profile("/w/target/release/idempotency".into()).as_deref(), Some("release"));
    }
}
