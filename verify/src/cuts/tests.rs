use super::*;

/// A device with 8 slices, as NVIDIA's MIG user guide states where the profiles of an A100 with 40 GB begin: `7g`, `4g`, `3g`, `2g`, `1g`
/// with two slices, and `1g`.
fn a100() -> Cuts {
    let stated: [(u64, &[u64]); 6] = [
        (8, &[0]),
        (4, &[0]),
        (4, &[0, 4]),
        (2, &[0, 2, 4]),
        (2, &[0, 2, 4, 6]),
        (1, &[0, 1, 2, 3, 4, 5, 6]),
    ];
    let profile = |(number, (slices, starts)): (usize, &(u64, &[u64]))| Profile {
        number,
        slices: *slices,
        starts: starts.to_vec(),
    };
    let profiles: Vec<Profile> = stated.iter().enumerate().map(profile).collect();
    let contents = fullest(8, &profiles);
    Cuts { slices: 8, profiles, contents, known: Mutex::default() }
}

#[test]
fn the_combinations_of_the_mig_user_guide_are_those_that_one_device_holds() {
    let cuts = a100();
    // Counts of 7g, 4g, 3g, 2g, 1g with two slices, 1g.
    let together = [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 1, 0, 0, 0],
        [0, 1, 0, 1, 0, 1],
        [0, 1, 0, 0, 0, 3],
        [0, 0, 2, 0, 0, 0],
        [0, 0, 1, 2, 0, 0],
        [0, 0, 1, 1, 0, 2],
        [0, 0, 1, 0, 0, 4],
        [0, 0, 0, 3, 0, 1],
        [0, 0, 0, 2, 0, 3],
        [0, 0, 0, 1, 0, 5],
        [0, 0, 0, 0, 0, 7],
        [0, 0, 0, 0, 4, 0],
        [0, 1, 0, 1, 1, 0],
        [0, 0, 0, 3, 1, 0],
    ];
    for counts in together {
        assert_eq!(cuts.fewest(&counts), Some(1), "{counts:?}");
    }
    let apart = [
        [0, 2, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 8],
        [0, 0, 0, 4, 0, 0],
        [1, 0, 0, 0, 0, 1],
        [0, 1, 1, 0, 0, 1],
        [0, 1, 0, 2, 0, 0],
        [0, 0, 2, 0, 0, 1],
        [0, 0, 1, 2, 0, 1],
        [0, 0, 0, 3, 0, 2],
    ];
    for counts in apart {
        assert_eq!(cuts.fewest(&counts), Some(2), "{counts:?}");
    }
    assert_eq!(cuts.fewest(&[0, 9, 7, 0, 0, 0]), Some(9));
    assert_eq!(cuts.fewest(&[2, 3, 3, 3, 0, 8]), Some(7));
}

#[test]
fn no_way_to_cut_a_device_counts_more_than_it_has() {
    let cuts = a100();
    for has in 1..=9u128 {
        let counts = cuts.counting_more(has, vec![0; 6]);
        for content in cuts.contents.as_ref().unwrap() {
            let counted: u128 = content.iter().zip(&counts).map(|(n, counts)| u128::from(*n) * counts).sum();
            assert!(counted <= has, "{content:?} of {counts:?}");
        }
    }
    // Seven eighths are the whole of a device, and two of the largest but one are on two.
    assert_eq!(cuts.counting_more(7, vec![0; 6])[5], 0, "the larger ones come first");
    assert_eq!(cuts.counting_more(7, vec![7, 4, 3, 2, 1, 0])[5], 1);
}

#[test]
fn what_is_beyond_a_server_is_told_without_a_search() {
    let cuts = a100();
    assert!(cuts.fewest(&[u64::MAX, 0, 0, 0, 0, u64::MAX]).is_some_and(|devices| devices > MOST_DEVICES));
}

#[test]
fn the_search_agrees_with_trying_all_places() {
    let mut state = 5u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut seen = [0; 4];
    for _ in 0..600 {
        let slices = 2 + draw(5);
        let profile = |number: usize, draw: &mut dyn FnMut(u64) -> u64| {
            let own = 1 + draw(slices);
            let all = (0..=slices - own).filter(|_| draw(2) == 0).collect::<Vec<_>>();
            Profile { number, slices: own, starts: if all.is_empty() { vec![0] } else { all } }
        };
        let mut profiles: Vec<Profile> = (0..3).map(|number| profile(number, &mut draw)).collect();
        profiles.sort_by_key(|profile| std::cmp::Reverse(profile.slices));
        let contents = fullest(slices, &profiles);
        let cuts = Cuts { slices, profiles, contents, known: Mutex::default() };
        let tasks: Vec<u64> = (0..3).map(|_| draw(3)).collect();
        let list: Vec<usize> = (0..3).flat_map(|at| std::iter::repeat_n(at, tasks[at] as usize)).collect();
        let fewest = (0..=6).find(|devices| placed(&cuts, &list, &mut vec![0; *devices])).unwrap();
        assert_eq!(cuts.fewest(&tasks), Some(fewest as u64), "{tasks:?} of {:?} in {slices}", cuts.profiles);
        seen[fewest.min(3)] += 1;
    }
    assert!(seen[1..].iter().all(|count| *count > 60), "{seen:?}");
}

/// Whether tasks have room on devices, by trying every start on every device.
fn placed(cuts: &Cuts, tasks: &[usize], devices: &mut Vec<u64>) -> bool {
    let Some((first, rest)) = tasks.split_first() else { return true };
    let profile = &cuts.profiles[*first];
    (0..devices.len()).any(|at| {
        profile.starts.iter().any(|start| {
            let mask = ((1 << profile.slices) - 1) << start;
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
