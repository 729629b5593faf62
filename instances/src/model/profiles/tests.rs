use super::*;
use crate::{NewUser, ServerClass};

/// An A100 with 40 GB, as NVIDIA's MIG user guide states where its profiles may begin.
const A100: [(&str, u32, &[u32]); 6] = [
    ("1g.5gb", 1, &[0, 1, 2, 3, 4, 5, 6]),
    ("1g.10gb", 2, &[0, 2, 4, 6]),
    ("2g.10gb", 2, &[0, 2, 4]),
    ("3g.20gb", 4, &[0, 4]),
    ("4g.20gb", 4, &[0]),
    ("7g.40gb", 8, &[0]),
];

fn profile((name, slices, starts): (&str, u32, &[u32])) -> DeviceProfile {
    DeviceProfile { name: name.into(), slices, starts: starts.to_vec() }
}

fn a100() -> DeviceProfiles {
    DeviceProfiles { resource: ResourceId(0), slices: 8, profiles: A100.map(profile).to_vec() }
}

/// A class with this capacity of `gpu`, in two devices of it.
fn builder(capacity: &str) -> InstanceBuilder {
    let mut builder = InstanceBuilder::new("", vec!["gpu".into(), "cpu".into()]).unwrap();
    let mut class = ServerClass::new("a", 1, vec![capacity.parse().unwrap(), Decimal::ONE]);
    class.devices = vec![(ResourceId(0), 2)];
    builder.class(class).unwrap();
    builder
}

#[test]
fn a_profile_begins_where_it_leaves_the_most_choices() {
    let cut = a100();
    let named = |name: &str| cut.profiles.iter().position(|profile| profile.name == name).unwrap();
    let filled = |names: &[&str]| {
        let mut taken = 0;
        let begin = |name: &&str| {
            let start = cut.start_for(named(name), taken)?;
            taken |= cut.profiles[named(name)].from(start);
            Some(start)
        };
        names.iter().map(begin).collect::<Vec<_>>()
    };
    // A first small part leaves room for the largest that still fits beside it.
    assert_eq!(filled(&["1g.5gb", "4g.20gb", "1g.5gb", "1g.5gb"]), [Some(6), Some(0), Some(5), Some(4)]);
    assert_eq!(filled(&["3g.20gb", "4g.20gb"]), [Some(4), Some(0)]);
    assert_eq!(filled(&["2g.10gb", "3g.20gb"]), [Some(4), Some(0)]);
    assert_eq!(filled(&["7g.40gb", "1g.5gb"]), [Some(0), None]);
    assert_eq!(filled(&["4g.20gb", "4g.20gb"]), [Some(0), None]);
    let most: Vec<u64> = (0..cut.profiles.len()).map(|number| cut.room_for(number, 0)).collect();
    assert_eq!(most, [7, 4, 3, 2, 1, 1]);
    let alone: Vec<u64> = cut.profiles.iter().map(|profile| profile.times_within(0, 8)).collect();
    assert_eq!(alone, most);
}

#[test]
fn what_no_device_can_be_cut_into_is_named_with_place_and_value() {
    let told = |change: &dyn Fn(&mut DeviceProfiles)| {
        let mut cut = a100();
        change(&mut cut);
        builder("2").device_profiles(cut).unwrap_err().to_string()
    };
    let of = "device_profiles.gpu.profiles.3g.20gb";
    assert_eq!(
        told(&|cut| cut.profiles[3].starts = vec![0, 6]),
        format!(
            "{of}.starts[1] = 6: 4 slices from there on end behind the last slice of a device, which has 8"
        )
    );
    assert_eq!(
        told(&|cut| cut.profiles[3].starts = vec![0, 0]),
        format!("{of}.starts[1] = 0: comes after 0; name each start once, in rising order")
    );
    assert_eq!(
        told(&|cut| cut.profiles[3].starts = vec![4, 0]),
        format!("{of}.starts[1] = 0: comes after 4; name each start once, in rising order")
    );
    assert_eq!(
        told(&|cut| cut.profiles[3].starts.clear()),
        format!("{of}.starts: name the slices at which it may begin, counted from 0")
    );
    assert_eq!(
        told(&|cut| cut.profiles[3].slices = 9),
        format!("{of}.slices = 9: must be from 1 to 8, the slices of a device")
    );
    assert_eq!(
        told(&|cut| cut.profiles[3].name = "1g.5gb".into()),
        "device_profiles.gpu.profiles = 1g.5gb: another profile has this name; tasks name profiles by it"
    );
    assert_eq!(
        told(&|cut| cut.profiles.clear()),
        "device_profiles.gpu.profiles = 0: name from 1 to 64 profiles, or leave out `device_profiles` of gpu"
    );
    assert_eq!(told(&|cut| cut.slices = 65), "device_profiles.gpu.slices = 65: must be from 1 to 64");
    assert_eq!(
        told(&|cut| cut.slices = 7),
        "device_profiles.gpu.slices = 7: does not divide a device of 1 gpu into equal slices that are decimals; correct it, or \
         state gpu in a unit of which a slice has a whole number"
    );
    assert_eq!(
        told(&|cut| cut.resource = ResourceId(1)),
        "device_profiles.cpu: no server class has devices of cpu; state `devices` on those whose devices can be cut"
    );
}

#[test]
fn a_task_takes_what_its_profile_does_and_nothing_else() {
    let cluster = || {
        let mut builder = builder("2");
        builder.device_profiles(a100()).unwrap();
        builder
    };
    let number = |text: &str| text.parse::<Decimal>().unwrap();
    let told = |demand: &str, name: &str| {
        let mut builder = cluster();
        let user = builder.user(NewUser::new("u", &[number(demand), Decimal::ONE])).unwrap();
        builder
            .profile(user, None, name)
            .map(|()| builder.build().unwrap())
            .map_err(|error| error.to_string())
    };
    let instance = told("0.5", "3g.20gb").unwrap();
    let kind = instance.kind(KindId(0));
    assert_eq!(kind.profile_name(), Some("3g.20gb"));
    assert_eq!(instance.most_on_a_device(kind.profile().unwrap()), 2);
    assert!(instance.has_profiles() && !instance.divided().unwrap().has_profiles());
    assert_eq!(
        told("0.25", "3g.20gb").unwrap_err(),
        "users[0].demand.gpu = 0.25: a part of profile 3g.20gb is 0.5 gpu; leave it out, or correct the demand or the profile"
    );
    assert_eq!(
        told("0.5", "3g.20g").unwrap_err(),
        "users[0].profile = 3g.20g: unknown profile 3g.20g (did you mean 3g.20gb?): use 1g.5gb, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, \
         7g.40gb"
    );
    let mut none = builder("2");
    let user = none.user(NewUser::new("u", &[number("0.5"), Decimal::ONE])).unwrap();
    assert_eq!(
        none.profile(user, None, "1g").unwrap_err().to_string(),
        "users[0].profile = 1g: there are no profiles; state them in `device_profiles`"
    );
    let mut other = cluster();
    other.class(ServerClass::new("b", 1, vec![Decimal::ONE, Decimal::ONE])).unwrap();
    let user = other.user(NewUser::new("u", &[number("0.5"), Decimal::ONE])).unwrap();
    other.profile(user, None, "4g.20gb").unwrap();
    assert_eq!(
        other.build().unwrap_err().to_string(),
        "users[0].profile = 4g.20gb: class b, on which the task may run, has gpu and no devices of it; state its `devices`, or \
         leave the class out of `eligible`"
    );
}
