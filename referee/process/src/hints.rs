//! What runtimes are told of the memory that there is. They size themselves by that of the whole
//! machine unless a container's limit says otherwise, and garbage is collected when their own idea
//! of a full heap is reached: by the default of a large machine that is after any limit of a match.

use referee_protocol::Limits;

/// How the line begins that Java writes to its stderr because of its hint, whatever it is asked.
pub const JAVA_NOTICE: &str = "Picked up JAVA_TOOL_OPTIONS:";

/// Environment variables, `NAME=value` each, for an agent with these limits. What its own command
/// line says goes before them.
pub fn hints(limits: &Limits) -> [String; 4] {
    let memory_mb = limits.memory_mb;
    // Beside its heap a runtime has itself, compiled code, threads and their stacks.
    let heap_mb = (memory_mb.saturating_mul(3) / 4).saturating_sub(64).max(memory_mb / 4).max(8);
    [
        format!("JAVA_TOOL_OPTIONS=-Xmx{heap_mb}m"),
        format!("NODE_OPTIONS=--max-old-space-size={heap_mb}"),
        // Of all that Go's runtime has, and no hard limit.
        format!("GOMEMLIMIT={}MiB", (memory_mb.saturating_mul(9) / 10).max(8)),
        // In bytes, as a hexadecimal number without a prefix.
        format!("DOTNET_GCHeapHardLimit={:x}", heap_mb.saturating_mul(1 << 20)),
    ]
}

#[cfg(test)]
mod tests {
    use super::hints;
    use referee_protocol::Limits;

    #[test]
    fn a_heap_is_smaller_than_all_memory() {
        for (memory_mb, wanted) in [
            (512, ["-Xmx320m", "=320", "=460MiB", "=14000000"]),
            (256, ["-Xmx128m", "=128", "=230MiB", "=8000000"]),
            (64, ["-Xmx16m", "=16", "=57MiB", "=1000000"]),
        ] {
            let told = hints(&Limits { memory_mb, ..Limits::default() });
            for (told, wanted) in told.iter().zip(wanted) {
                assert!(told.ends_with(wanted), "{memory_mb}: {told}");
            }
        }
        hints(&Limits { memory_mb: u64::MAX, ..Limits::default() });
        hints(&Limits { memory_mb: 0, ..Limits::default() });
    }
}
