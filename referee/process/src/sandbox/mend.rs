//! How to mend a machine on which a layer doesn't hold, by what the machine says of itself.

use super::Probe;
use referee_protocol::Layer;
use referee_protocol::plain::tame;
use std::fs;
use std::path::Path;

/// What to do so that the layer of a failed probe holds; `None` where nobody can do anything.
pub fn mend(probe: &Probe) -> Option<String> {
    if probe.attack.is_some() {
        // It was put up, and doesn't stop what it should: that is no setting.
        let layer = probe.layer.name();
        return Some(format!(
            "{layer} was put up and doesn't hold: a fault of the kernel or of the referee; tell us"
        ));
    }
    let help = match probe.layer {
        Layer::Scope | Layer::Landlock => landlock(),
        Layer::Seccomp => "the kernel needs CONFIG_SECCOMP_FILTER".to_owned(),
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

/// What to do where canaries can't be started at all, whatever they are in.
pub fn mend_untested() -> String {
    let folder = std::env::temp_dir();
    if tempfile::tempdir_in(&folder).is_ok() {
        return "are there free processes and descriptors, and room on the disk?".to_owned();
    }
    let name = folder.display();
    format!(
        "{} is the machine's temporary folder, and nothing can be made in it: make it a folder that \
         you may write, or set TMPDIR to one",
        tame(&name.to_string())
    )
}

/// A setting of the kernel, as it is read below `/proc/sys`.
fn setting(name: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
    Some(text.trim().to_owned())
}

fn landlock() -> String {
    "Landlock of ABI 6 is needed: Linux 6.12 or newer, with `landlock` in the list of \
     /sys/kernel/security/lsm; add it to `lsm=` on the kernel's command line"
        .to_owned()
}

/// Whether this runs in a container of Docker or Podman.
fn in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].into_iter().any(|path| Path::new(path).exists())
}

fn namespaces() -> String {
    if setting("user/max_user_namespaces").as_deref() == Some("0") {
        return "user namespaces are switched off: `sysctl -w user.max_user_namespaces=15000`"
            .to_owned();
    }
    if setting("kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        return "user namespaces are for root only: `sysctl -w kernel.unprivileged_userns_clone=1`"
            .to_owned();
    }
    if in_container() {
        return "the container's engine refuses namespaces: run it with `--security-opt \
                seccomp=unconfined --security-opt apparmor=unconfined --security-opt \
                systempaths=unconfined`, or with `--cap-add SYS_ADMIN`"
            .to_owned();
    }
    if setting("kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        return "AppArmor keeps user namespaces from programs without a profile, as on Ubuntu from \
                24.04 on: `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
            .to_owned();
    }
    "the kernel has to allow namespaces to ordinary users: see user_namespaces(7)".to_owned()
}

fn groups() -> String {
    if in_container() {
        return "the container's /sys/fs/cgroup is read-only: run it with `--cgroupns private \
                --security-opt writable-cgroups=true`, or let the engine limit memory"
            .to_owned();
    }
    "the referee needs a control group that it may divide: `systemd-run --user --scope -p \
     Delegate=yes referee ..`, or root"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Probe;
    use super::mend;
    use referee_protocol::Layer;

    #[test]
    fn every_layer_that_depends_on_the_machine_can_be_mended() {
        for &layer in Layer::ALL {
            let told = "EPERM".to_owned();
            let probe =
                Probe { layer, attack: None, alone: true, held: false, told, without: None };
            let ours = [Layer::NoNewPrivileges, Layer::Limits, Layer::Watchdog].contains(&layer);
            assert_eq!(mend(&probe).is_none(), ours, "{layer:?}");
        }
    }
}
