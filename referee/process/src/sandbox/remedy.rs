//! What to do on a machine where a layer fails, depending on its settings.

use super::Probe;
use crate::sandbox::Layer;
use referee_protocol::sanitize::sanitize;
use std::fs;
use std::path::Path;

/// Returns what to do so that a failed probe's layer holds, if anything can be done.
pub fn remedy(probe: &Probe) -> Option<String> {
    if probe.attack.is_some() {
        // It was applied, but doesn't stop the attack: no setting changes that.
        let layer = probe.layer.name();
        return Some(format!(
            "{layer} is in place but doesn't stop this: a bug in the kernel or in the referee, please \
             report it"
        ));
    }
    let help = match probe.layer {
        Layer::Scope | Layer::Landlock => landlock(),
        Layer::Seccomp => {
            "use a kernel with CONFIG_SECCOMP_FILTER, and find the program that has used up its \
                           memory for filters if it says so"
                .to_owned()
        }
        Layer::UserNs
        | Layer::PidNs
        | Layer::NetNs
        | Layer::IpcNs
        | Layer::UtsNs
        | Layer::CgroupNs
        | Layer::Mounts => namespaces(),
        Layer::Cgroup => groups(),
        Layer::User => "run the referee as an ordinary user".to_owned(),
        Layer::NoNewPrivileges | Layer::Limits | Layer::Watchdog => return None,
    };
    Some(help)
}

/// Returns what to do if the attacker can't be started at all.
pub fn remedy_untested() -> String {
    let folder = std::env::temp_dir();
    if tempfile::tempdir_in(&folder).is_ok() {
        return "check that processes, open files and disk space are left".to_owned();
    }
    let name = folder.display();
    format!(
        "nothing can be created in the temporary folder {}: make it writable, or set TMPDIR to a \
         folder that is",
        sanitize(&name.to_string())
    )
}

/// Whether a kernel setting, by its path below `/proc/sys`, has this value.
fn is_set(name: &str, value: &str) -> bool {
    let text = fs::read_to_string(Path::new("/proc/sys").join(name));
    text.is_ok_and(|text| text.trim() == value)
}

fn landlock() -> String {
    "use Linux 6.12 or newer (Landlock ABI 6); if /sys/kernel/security/lsm doesn't list \
     `landlock`, add it to `lsm=` on the kernel's command line"
        .to_owned()
}

/// Whether this runs in a Docker or Podman container.
fn in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].into_iter().any(|path| Path::new(path).exists())
}

fn namespaces() -> String {
    let help = if is_set("user/max_user_namespaces", "0") {
        "user namespaces are switched off; run `sudo sysctl -w user.max_user_namespaces=15000`"
    } else if is_set("kernel/unprivileged_userns_clone", "0") {
        "only root may make user namespaces; run `sudo sysctl -w \
         kernel.unprivileged_userns_clone=1`"
    } else if in_container() {
        "the container engine refuses namespaces or hides parts of /proc; start the container with \
         `--security-opt unmask=/proc/*` (podman) or `--security-opt seccomp=unconfined \
         --security-opt apparmor=unconfined --security-opt systempaths=unconfined` (docker)"
    } else if is_set("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor restricts user namespaces (as on Ubuntu 24.04 and later); run `sudo sysctl -w \
         kernel.apparmor_restrict_unprivileged_userns=0`"
    } else {
        "allow ordinary users to make user namespaces: see user_namespaces(7)"
    };
    help.to_owned()
}

fn groups() -> String {
    if in_container() {
        return "the container's /sys/fs/cgroup is read-only; start it with `--cgroupns private \
                --security-opt writable-cgroups=true`, or let the engine limit memory"
            .to_owned();
    }
    "the referee needs a delegated control group; run `systemd-run --user --scope -p \
     Delegate=yes referee ..`, or run it as root"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Probe;
    use super::remedy;
    use crate::sandbox::Layer;

    #[test]
    fn every_layer_that_depends_on_the_machine_has_a_remedy() {
        for &layer in Layer::ALL {
            let answer = "EPERM".to_owned();
            let probe =
                Probe { layer, attack: None, alone: true, held: false, answer, without: None };
            let ours = [Layer::NoNewPrivileges, Layer::Limits, Layer::Watchdog].contains(&layer);
            assert_eq!(remedy(&probe).is_none(), ours, "{layer:?}");
        }
    }
}
