//! The process of the `fairplan` command.

use std::process::ExitCode;

/// Keeps the memory that large results were computed in: giving it back and getting it again page by page cost a
/// million users a tenth of their time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fairplan_cli::main()
}
