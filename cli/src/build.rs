//! Under `cargo run`, the functions are built before they are started.

use std::{
    env,
    path::{Path, PathBuf},
};

use tokio::process::Command;

use crate::CliError;

/// Builds the workspace's functions when this process was started by cargo, in the profile that it was built in.
///
/// `cargo run` builds this package only, and functions are programs of their own.
pub(crate) async fn functions() -> Result<(), CliError> {
    let (Some(cargo), Some(manifest)) = (env::var_os("CARGO"), env::var_os("CARGO_MANIFEST_DIR")) else {
        return Ok(());
    };
    let Some(workspace) = Path::new(&manifest).parent() else { return Ok(()) };
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--workspace", "--bins"]).current_dir(workspace).kill_on_drop(true);
    if let Some(profile) = profile(env::current_exe()?) {
        build.args(["--profile", &profile]);
    }
    let status = build.status().await?;
    if status.success() { Ok(()) } else { Err(CliError::Build(status.to_string())) }
}

/// The profile of `…/target/{profile}/idempotency`. The profile `dev` puts its files into `debug`.
fn profile(executable: PathBuf) -> Option<String> {
    let directory = executable.parent()?.file_name()?.to_str()?;
    Some(if directory == "debug" { "dev".to_owned() } else { directory.to_owned() })
}
