//! The environment that Lambda gives to a function.

use std::env;
use std::net::SocketAddr;
use std::path::Path;

use super::FunctionConfig;
use crate::local;

/// "Defined runtime environment variables" in AWS's guide, then the function's own, which win.
pub(super) fn variables(config: &FunctionConfig, sandbox: &str, runtime_api: SocketAddr) -> Vec<(String, String)> {
    let task_root = config.binary.parent().unwrap_or(Path::new("/")).display().to_string();
    let lambda = [
        ("AWS_LAMBDA_RUNTIME_API", runtime_api.to_string()),
        ("AWS_LAMBDA_FUNCTION_NAME", config.name.clone()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", config.memory_mb.to_string()),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand".to_owned()),
        ("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{}", config.name)),
        ("AWS_LAMBDA_LOG_STREAM_NAME", format!("[$LATEST]{sandbox}")),
        ("AWS_EXECUTION_ENV", "AWS_Lambda_provided.al2023".to_owned()),
        ("AWS_REGION", local::REGION.to_owned()),
        ("AWS_DEFAULT_REGION", local::REGION.to_owned()),
        ("AWS_ACCESS_KEY_ID", local::ACCESS_KEY_ID.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", local::SECRET_ACCESS_KEY.to_owned()),
        ("LAMBDA_TASK_ROOT", task_root),
        ("_HANDLER", "bootstrap".to_owned()),
        ("LANG", "en_US.UTF-8".to_owned()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("TZ", ":UTC".to_owned()),
    ];
    // Coverage runs set it; without it an instrumented function would write into its directory.
    let coverage = env::var("LLVM_PROFILE_FILE").ok().map(|file| ("LLVM_PROFILE_FILE", file));
    let set_by_host = lambda.into_iter().chain(coverage).map(|(name, value)| (name.to_owned(), value));
    let own = config.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    set_by_host.chain(own).collect()
}

pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{}:{}:function:{name}", local::REGION, local::ACCOUNT_ID)
}
