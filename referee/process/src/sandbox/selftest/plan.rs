//! Which attackers run, and with which layers.

use super::super::attacker::{Attack, Cost};
use super::Depth;
use crate::sandbox::{Layer, Layers};

/// One attacker.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Its layers.
    pub layers: Layers,
    /// The layers that it tests.
    pub(super) layers_under_test: Layers,
    /// What it tries, in this order.
    pub(super) attacks: Vec<Attack>,
    /// It has no layers, to check that its attacks work.
    pub(super) control: bool,
}

/// Groups of layers that stop none of each other's attacks.
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

/// Returns all attackers that test these layers; none without layers.
pub(super) fn runs(layers: Layers, depth: Depth) -> Vec<Run> {
    let costs: &[Cost] = match depth {
        Depth::Quick => &[Cost::Quick],
        // Those that take longest first.
        Depth::Start | Depth::Whole => &[Cost::Deadly, Cost::Slow, Cost::Quick],
    };
    let mut runs = Vec::new();
    for &cost in costs {
        // Layers of a group may stop the same slow attacks.
        let together = cost == Cost::Quick && depth != Depth::Whole;
        let groups: Vec<Layers> = if together {
            APART.into_iter().map(|group| only(layers, Layers::of(group))).collect()
        } else {
            layers.iter().map(|layer| Layers::of(&[layer])).collect()
        };
        for group in groups {
            let whole = beneath(group, layers);
            // If this is all that there is, the attacker with all layers is the same.
            if whole != layers {
                let as_root = layers.has(Layer::User) && !whole.has(Layer::User);
                runs.extend(with(group, whole, cost, false).into_iter().filter_map(|mut run| {
                    run.attacks.retain(|attack| !as_root || !works_for_root(*attack));
                    (!run.attacks.is_empty()).then_some(run)
                }));
            }
        }
        runs.extend(with(layers, layers, cost, false));
        if depth == Depth::Whole {
            runs.extend(with(layers, Layers::default(), cost, true));
        }
    }
    runs
}

/// Returns attackers with some layers that try everything that the tested layers stop.
fn with(layers_under_test: Layers, layers: Layers, cost: Cost, control: bool) -> Vec<Run> {
    let stopped = |it: &Attack| it.layers().iter().any(|layer| layers_under_test.has(layer));
    let attacks = Attack::all().filter(|it| it.cost() == cost && stopped(it));
    let attacks: Vec<Attack> = attacks.collect();
    let run = |attacks| Run { layers, layers_under_test, attacks, control };
    match cost {
        Cost::Deadly => attacks.into_iter().map(|attack| run(vec![attack])).collect(),
        _ if attacks.is_empty() => Vec::new(),
        _ => vec![run(attacks)],
    }
}

/// Whether an attack works for root in spite of these layers, unless it has a separate user.
fn works_for_root(attack: Attack) -> bool {
    let layers = attack.layers();
    layers.has(Layer::User) && layers != Layers::of(&[Layer::User])
}

/// Returns the layers that are in both sets.
fn only(these: Layers, kept: Layers) -> Layers {
    these.difference(these.difference(kept))
}

/// Which layers need another one; a need of a need comes later.
const NEEDS: [(&[Layer], Layer); 4] = [
    (&[Layer::Scope, Layer::Landlock, Layer::Seccomp], Layer::NoNewPrivileges),
    // For its own `/proc`.
    (&[Layer::PidNs], Layer::Mounts),
    (&[Layer::NetNs, Layer::IpcNs, Layer::UtsNs, Layer::CgroupNs, Layer::Mounts], Layer::UserNs),
    (&[Layer::UserNs], Layer::User),
];

/// Returns the layers with those that they need, as far as these are configured.
fn beneath(group: Layers, all: Layers) -> Layers {
    let whole = NEEDS.iter().fold(group, |whole, &(layers, needed)| {
        let needs = layers.iter().any(|&layer| whole.has(layer));
        if needs { whole.with(&[needed]) } else { whole }
    });
    only(whole, all)
}

#[cfg(test)]
mod tests {
    use super::super::super::attacker::{Attack, Cost};
    use super::super::Depth;
    use super::{APART, runs};
    use crate::sandbox::{Layer, Layers};
    use referee_protocol::Level;

    #[test]
    fn no_layer_of_a_group_hides_another() {
        for group in APART {
            let group = Layers::of(group);
            for attack in Attack::all().filter(|it| it.cost() == Cost::Quick) {
                assert!(
                    attack.layers().iter().filter(|&it| group.has(it)).count() < 2,
                    "{attack:?}"
                );
            }
        }
    }

    #[test]
    fn every_layer_is_tested_alone_and_with_all_others() {
        let all = Layers::of_level(Level::Metered).with(&[Layer::User]);
        for (depth, layers) in
            [(Depth::Quick, all.without(Layer::Watchdog)), (Depth::Start, all), (Depth::Whole, all)]
        {
            let runs = runs(all, depth);
            for layer in layers.iter() {
                let its = |run: &&super::Run| run.layers_under_test.has(layer) && !run.control;
                assert!(runs.iter().filter(its).any(|run| run.layers == all), "{layer:?}");
                assert!(runs.iter().filter(its).any(|run| run.layers != all), "{layer:?}");
            }
        }
        assert!(runs(Layers::default(), Depth::Whole).is_empty());
    }

    #[test]
    fn at_the_start_each_layer_faces_every_attack_that_it_stops() {
        let all = Layers::of_level(Level::Metered);
        let runs = runs(all, Depth::Start);
        assert!(runs.iter().all(|run| !run.control));
        for attack in Attack::all() {
            for layer in attack.layers().iter().filter(|&layer| all.has(layer)) {
                let meets = |run: &&super::Run| {
                    let others = run.layers.without(layer);
                    run.attacks.contains(&attack)
                        && run.layers_under_test.has(layer)
                        && !attack.layers().iter().any(|other| others.has(other))
                };
                assert!(runs.iter().any(|run| meets(&run)), "{layer:?} {attack:?}");
            }
        }
    }
}
