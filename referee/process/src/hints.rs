//! Environment variables that limit the memory of language runtimes. A runtime sizes its heap by
//! the memory of the whole machine unless a container limits it, and collects garbage only when
//! that heap is full: on a large machine that is beyond the limit of a match.

use referee_protocol::Limits;

/// Returns `NAME=value` entries for an agent with these limits. Options on the agent's own command
/// line override them.
pub fn hints(limits: &Limits) -> [String; 4] {
    let memory_mb = limits.memory_mb;
    // Besides its heap a runtime needs room for itself, compiled code, threads and stacks.
    let heap_mb = (memory_mb.saturating_mul(3) / 4).saturating_sub(64).max(memory_mb / 4).max(8);
    [
        format!("JAVA_TOOL_OPTIONS=-Xmx{heap_mb}m"),
        format!("NODE_OPTIONS=--max-old-space-size={heap_mb}"),
        // All memory of Go's runtime; a soft limit.
        format!("GOMEMLIMIT={}MiB", (memory_mb.saturating_mul(9) / 10).max(8)),
        // In bytes, hexadecimal without a prefix.
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
            let found = hints(&Limits { memory_mb, ..Limits::default() });
            for (found, wanted) in found.iter().zip(wanted) {
                assert!(found.ends_with(wanted), "{memory_mb}: {found}");
            }
        }
        hints(&Limits { memory_mb: u64::MAX, ..Limits::default() });
        hints(&Limits { memory_mb: 0, ..Limits::default() });
    }
}
