//! Price groups: server classes whose prices agree, so that users do not mind which of them they get.

use crate::tolerance::PRICES;

/// The classes in groups of equal prices, in every one of some row-major `classes × resources` lists. Each class joins the first group whose first
/// member it agrees with; groups and members are in the instance's order.
pub fn price_groups(classes: usize, resources: usize, lists: &[&[f64]]) -> Vec<Vec<usize>> {
    let vectors: Vec<Vec<f64>> = (0..classes)
        .map(|l| {
            let scaled = |prices: &&[f64]| {
                let largest = prices.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                prices[l * resources..(l + 1) * resources].iter().map(move |p| p / largest).collect()
            };
            lists.iter().flat_map(|prices| -> Vec<f64> { scaled(prices) }).collect()
        })
        .collect();
    let agree = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= PRICES);
    // Vectors that agree have sums that nearly agree, so only groups with a close sum need a look.
    let reach = PRICES * (lists.len() * resources) as f64 * 1.001;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_sum: std::collections::BTreeMap<u64, Vec<usize>> = std::collections::BTreeMap::new();
    for (class, vector) in vectors.iter().enumerate() {
        let sum = vector.iter().fold(0.0, |sum, price| sum + price);
        // Doubles >= 0 are ordered like their bits.
        let near = by_sum.range((sum - reach).max(0.0).to_bits()..=(sum + reach).to_bits());
        let found = near.flat_map(|(_, groups)| groups).copied().filter(|&group| {
            let first: usize = groups[group][0];
            agree(&vectors[first], vector)
        });
        match found.min() {
            Some(group) => groups[group].push(class),
            None => {
                by_sum.entry(sum.to_bits()).or_default().push(groups.len());
                groups.push(vec![class]);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn classes_with_equal_prices_in_every_list_are_one_pool() {
        let first: &[f64] = &[1.0, 0.0, 1.0 + 1e-7, 0.0, 0.0, 4.0];
        assert_eq!(price_groups(3, 2, &[first]), [vec![0, 1], vec![2]]);
        let second: &[f64] = &[1.0, 0.0, 2.0, 0.0, 0.0, 4.0];
        assert_eq!(price_groups(3, 2, &[first, second]), [vec![0], vec![1], vec![2]]);
        assert_eq!(price_groups(2, 2, &[]), [vec![0, 1]], "nothing tells unpriced classes apart");
    }

    proptest! {
        #[test]
        fn agrees_with_comparing_every_pair(prices in prop::collection::vec(0u8..3, 0..24)) {
            let classes = prices.len() / 2;
            let prices: Vec<f64> = prices[..classes * 2].iter().map(|p| f64::from(*p)).collect();
            let mut plain: Vec<Vec<usize>> = Vec::new();
            for l in 0..classes {
                let same = |k: usize| prices[k * 2..k * 2 + 2] == prices[l * 2..l * 2 + 2];
                match plain.iter().position(|group| same(group[0])) {
                    Some(group) => plain[group].push(l),
                    None => plain.push(vec![l]),
                }
            }
            prop_assert_eq!(price_groups(classes, 2, &[&prices]), plain);
        }
    }
}
