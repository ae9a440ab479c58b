//! Which canaries there are.

use super::super::canary::{Attack, Pace};
use super::Depth;
use referee_protocol::{Layer, Layers};

/// One canary.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// What it is in.
    pub layers: Layers,
    /// Which of them are tested by it.
    pub(super) tested: Layers,
    /// What it tries, in this order.
    pub(super) attacks: Vec<Attack>,
    /// It has no layers, to see that its attacks work.
    pub(super) control: bool,
}

/// Layers none of which stops what is tried against another.
const APART: [&[Layer]; 4] = [
    &[Layer::Limits, Layer::Scope],
    &[Layer::Landlock],
    &[Layer::Seccomp],
    &[
        Layer::NoNewPrivileges,
        Layer::User,
        Layer::UserNs,
        Layer::PidNs,
        Layer::NetNs,
        Layer::IpcNs,
        Layer::UtsNs,
        Layer::CgroupNs,
        Layer::Mounts,
        Layer::Cgroup,
    ],
];

/// All canaries by which these layers are tested; none where there are no layers.
pub(super) fn runs(layers: Layers, depth: Depth) -> Vec<Run> {
    let paces: &[Pace] = match depth {
        Depth::Quick => &[Pace::Quick],
        // Those that take longest first.
        Depth::Start | Depth::Whole => &[Pace::Deadly, Pace::Slow, Pace::Quick],
    };
    let mut runs = Vec::new();
    for &pace in paces {
        // Of what isn't quick, a group's layers may stop the same.
        let together = pace == Pace::Quick && depth != Depth::Whole;
        let groups: Vec<Layers> = if together {
            APART.into_iter().map(|group| only(layers, Layers::of(group))).collect()
        } else {
            layers.iter().map(|layer| Layers::of(&[layer])).collect()
        };
        for group in groups {
            let whole = beneath(group, layers);
            // Where it is all that there is, the canary in all layers is the same.
            if whole != layers {
                let as_root = layers.has(Layer::User) && !whole.has(Layer::User);
                runs.extend(with(group, whole, pace, false).into_iter().filter_map(|mut run| {
                    run.attacks.retain(|attack| !as_root || !works_for_root(*attack));
                    (!run.attacks.is_empty()).then_some(run)
                }));
            }
        }
        runs.extend(with(layers, layers, pace, false));
        if depth == Depth::Whole {
            runs.extend(with(layers, Layers::default(), pace, true));
        }
    }
    runs
}

/// Canaries in some layers that try all that the tested ones stop.
fn with(tested: Layers, layers: Layers, pace: Pace, control: bool) -> Vec<Run> {
    let stopped = |it: &Attack| it.layers().iter().any(|layer| tested.has(layer));
    let attacks = Attack::all().filter(|it| it.pace() == pace && stopped(it));
    let attacks: Vec<Attack> = attacks.collect();
    let run = |attacks| Run { layers, tested, attacks, control };
    match pace {
        Pace::Deadly => attacks.into_iter().map(|attack| run(vec![attack])).collect(),
        _ if attacks.is_empty() => Vec::new(),
        _ => vec![run(attacks)],
    }
}

/// What root may do in spite of the layers around it but for a user of its own.
fn works_for_root(attack: Attack) -> bool {
    let layers = attack.layers();
    layers.has(Layer::User) && layers != Layers::of(&[Layer::User])
}

/// Those that are in both.
fn only(these: Layers, kept: Layers) -> Layers {
    these.minus(these.minus(kept))
}

/// What layers can't be put up without; what is needed for another comes after it.
const NEEDS: [(&[Layer], Layer); 4] = [
    (&[Layer::Scope, Layer::Landlock, Layer::Seccomp], Layer::NoNewPrivileges),
    // For its own `/proc`.
    (&[Layer::PidNs], Layer::Mounts),
    (&[Layer::NetNs, Layer::IpcNs, Layer::UtsNs, Layer::CgroupNs, Layer::Mounts], Layer::UserNs),
    (&[Layer::UserNs], Layer::User),
];

/// Layers with what they can't be put up without, as far as it is to be in force.
fn beneath(group: Layers, all: Layers) -> Layers {
    let whole = NEEDS.iter().fold(group, |whole, &(layers, needed)| {
        let needs = layers.iter().any(|&layer| whole.has(layer));
        if needs { whole.and(&[needed]) } else { whole }
    });
    only(whole, all)
}

#[cfg(test)]
mod tests {
    use super::super::super::canary::{Attack, Pace};
    use super::super::Depth;
    use super::{APART, runs};
    use referee_protocol::{Layer, Layers, Level};

    #[test]
    fn no_layer_of_a_group_hides_another() {
        for group in APART {
            let group = Layers::of(group);
            for attack in Attack::all().filter(|it| it.pace() == Pace::Quick) {
                assert!(
                    attack.layers().iter().filter(|&it| group.has(it)).count() < 2,
                    "{attack:?}"
                );
            }
        }
    }

    #[test]
    fn every_layer_is_tested_alone_and_with_all_others() {
        let all = Level::Metered.layers().and(&[Layer::User]);
        for (depth, layers) in
            [(Depth::Quick, all.without(Layer::Watchdog)), (Depth::Start, all), (Depth::Whole, all)]
        {
            let runs = runs(all, depth);
            for layer in layers.iter() {
                let its = |run: &&super::Run| run.tested.has(layer) && !run.control;
                assert!(runs.iter().filter(its).any(|run| run.layers == all), "{layer:?}");
                assert!(runs.iter().filter(its).any(|run| run.layers != all), "{layer:?}");
            }
        }
        assert!(runs(Layers::default(), Depth::Whole).is_empty());
    }

    #[test]
    fn at_the_start_each_layer_meets_every_attack_that_it_stops() {
        let all = Level::Metered.layers();
        let runs = runs(all, Depth::Start);
        assert!(runs.iter().all(|run| !run.control));
        for attack in Attack::all() {
            for layer in attack.layers().iter().filter(|&layer| all.has(layer)) {
                let meets = |run: &&super::Run| {
                    let others = run.layers.without(layer);
                    run.attacks.contains(&attack)
                        && run.tested.has(layer)
                        && !attack.layers().iter().any(|other| others.has(other))
                };
                assert!(runs.iter().any(|run| meets(&run)), "{layer:?} {attack:?}");
            }
        }
    }
}
