use super::*;
use fairplan_instances::{Decimal, InstanceBuilder, NewUser, Random, ServerClass};

/// What a device of so many slices can be cut into, where every profile is some task's.
fn cuts(slices: u32, stated: &[(&str, u32, &[u32])]) -> Cuts {
    let mut builder = InstanceBuilder::new("", vec!["gpu".into()]).unwrap();
    let gpu = ResourceId(0);
    let mut class = ServerClass::new("a", 1, vec![Decimal::from(8 * slices)]);
    class.devices = vec![(gpu, 8)];
    builder.class(class).unwrap();
    let profiles = stated
        .iter()
        .map(|(name, slices, starts)| DeviceProfile {
            name: name.to_string(),
            slices: *slices,
            starts: starts.to_vec(),
        })
        .collect();
    builder.device_profiles(DeviceProfiles { resource: gpu, slices, profiles }).unwrap();
    for (name, slices, _) in stated {
        let user = builder.user(NewUser::new(name, &[Decimal::from(*slices)])).unwrap();
        builder.profile(user, None, name).unwrap();
    }
    Cuts::new(&builder.build().unwrap(), gpu).unwrap()
}

/// An A100 with 40 GB, as NVIDIA's MIG user guide states where its profiles begin.
fn a100() -> Cuts {
    let stated: [(&str, u32, &[u32]); 6] = [
        ("1g.5gb", 1, &[0, 1, 2, 3, 4, 5, 6]),
        ("1g.10gb", 2, &[0, 2, 4, 6]),
        ("2g.10gb", 2, &[0, 2, 4]),
        ("3g.20gb", 4, &[0, 4]),
        ("4g.20gb", 4, &[0]),
        ("7g.40gb", 8, &[0]),
    ];
    cuts(8, &stated)
}

/// So many of profiles, by their numbers in the instance.
fn counts(cuts: &Cuts, of: &[(usize, u64)]) -> Vec<u64> {
    let mut counts = vec![0; cuts.len()];
    of.iter().for_each(|(number, count)| counts[cuts.position(*number)] += count);
    counts
}

#[test]
fn the_combinations_of_the_mig_user_guide_are_those_that_one_device_holds() {
    let cuts = a100();
    const ONE: usize = 0;
    const TWO: usize = 2;
    const THREE: usize = 3;
    const FOUR: usize = 4;
    const SEVEN: usize = 5;
    let fewest = |of: &[(usize, u64)]| cuts.fewest(&counts(&cuts, of));
    let together: [&[(usize, u64)]; 10] = [
        &[(SEVEN, 1)],
        &[(FOUR, 1), (THREE, 1)],
        &[(FOUR, 1), (TWO, 1), (ONE, 1)],
        &[(FOUR, 1), (ONE, 3)],
        &[(THREE, 2)],
        &[(THREE, 1), (TWO, 2)],
        &[(THREE, 1), (TWO, 1), (ONE, 2)],
        &[(TWO, 3), (ONE, 1)],
        &[(ONE, 7)],
        &[(TWO, 2), (ONE, 3)],
    ];
    for of in together {
        assert_eq!(fewest(of), Some(1), "{of:?}");
    }
    let apart: [&[(usize, u64)]; 7] = [
        &[(FOUR, 2)],
        &[(ONE, 8)],
        &[(TWO, 4)],
        &[(SEVEN, 1), (ONE, 1)],
        &[(FOUR, 1), (THREE, 1), (ONE, 1)],
        &[(FOUR, 1), (TWO, 2)],
        &[(THREE, 2), (ONE, 1)],
    ];
    for of in apart {
        assert_eq!(fewest(of), Some(2), "{of:?}");
    }
    assert_eq!(fewest(&[(ONE, u64::MAX)]).map(|devices| devices > MOST_DEVICES), Some(true));
}

#[test]
fn seven_of_a_profile_count_for_a_whole_device_of_eight_slices() {
    let cuts = a100();
    let lifted = cuts.lifted(7, counts(&cuts, &[(1, 1), (2, 1), (3, 3), (4, 3), (5, 7)]));
    assert_eq!(lifted, counts(&cuts, &[(0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (5, 7)]));
    // At most one of the profile that begins at the first slice alone.
    assert_eq!(cuts.lifted(1, vec![0; 6])[cuts.position(4)], 1);
}

#[test]
fn fewest_devices_are_those_of_trying_all_places_and_no_row_excludes_what_fits() {
    let mut random = Random::new(24, 5);
    let mut seen = [0; 4];
    for _ in 0..500 {
        let slices = random.between(2, 6) as u32;
        let stated: Vec<(String, u32, Vec<u32>)> = (0..3)
            .map(|at| {
                let own = random.between(1, slices.into()) as u32;
                let mut starts: Vec<u32> = (0..=slices - own).filter(|_| random.below(2) == 0).collect();
                if starts.is_empty() {
                    starts.push(0);
                }
                (format!("p{at}"), own, starts)
            })
            .collect();
        let borrowed: Vec<(&str, u32, &[u32])> =
            stated.iter().map(|(name, own, starts)| (name.as_str(), *own, &starts[..])).collect();
        let cuts = cuts(slices, &borrowed);
        let tasks: Vec<u64> = (0..3).map(|_| random.below(3)).collect();
        let list: Vec<usize> = (0..3).flat_map(|at| std::iter::repeat_n(at, tasks[at] as usize)).collect();
        let fewest = (0..=6).find(|devices| placed(&cuts, &list, &mut vec![0; *devices])).unwrap() as u64;
        assert_eq!(cuts.fewest(&tasks), Some(fewest), "{tasks:?} of {stated:?} in {slices}");
        for has in 1..=6 {
            let counted = cuts.lifted(has, vec![0; 3]);
            let sum: u64 = tasks.iter().zip(&counted).map(|(number, counts)| number * counts).sum();
            assert!(sum <= has * fewest, "{counted:?} of {has}: {tasks:?} of {stated:?} in {slices}");
        }
        seen[fewest.min(3) as usize] += 1;
    }
    assert!(seen[1..].iter().all(|count| *count > 50), "{seen:?}");
}

/// Whether tasks have room on devices, by trying every start on every device.
fn placed(cuts: &Cuts, tasks: &[usize], devices: &mut Vec<u64>) -> bool {
    let Some((first, rest)) = tasks.split_first() else { return true };
    let profile = cuts.profile(*first);
    (0..devices.len()).any(|at| {
        profile.starts.iter().any(|start| {
            let mask = profile.from(*start);
            if devices[at] & mask != 0 {
                return false;
            }
            devices[at] |= mask;
            let found = placed(cuts, rest, devices);
            devices[at] &= !mask;
            found
        })
    })
}
