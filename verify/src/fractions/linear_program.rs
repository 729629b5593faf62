//! Small linear programs in fractions.

use super::fraction::Fraction;

/// The point with the largest `gains x` where `rows x <= right` and `x >= 0`, and the prices of the rows; `right >= 0`, and something holds
/// every gain. By Bland's rule.
pub(crate) fn maximise(
    mut gains: Vec<Fraction>,
    mut rows: Vec<Vec<Fraction>>,
    mut right: Vec<Fraction>,
) -> (Vec<Fraction>, Vec<Fraction>) {
    let (n, m) = (gains.len(), rows.len());
    let (mut free, mut basic): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (n..n + m).collect());
    while let Some(column) = (0..n).filter(|j| gains[*j].is_positive()).min_by_key(|j| free[*j]) {
        let holding = (0..m).filter(|i| rows[*i][column].is_positive());
        let ratio = |i: usize| right[i].over(&rows[i][column]);
        let Some(row) = holding.min_by(|i, j| ratio(*i).cmp(&ratio(*j)).then(basic[*i].cmp(&basic[*j])))
        else {
            break;
        };
        let pivot = rows[row][column].clone();
        rows[row][column] = Fraction::whole(1);
        rows[row].iter_mut().for_each(|entry| *entry = entry.over(&pivot));
        right[row] = right[row].over(&pivot);
        let (taken, amount) = (rows[row].clone(), right[row].clone());
        let leave = |entries: &mut Vec<Fraction>| {
            let factor = std::mem::replace(&mut entries[column], Fraction::zero());
            if !factor.is_zero() {
                entries
                    .iter_mut()
                    .zip(&taken)
                    .for_each(|(entry, taken)| *entry = entry.minus(&factor.times(taken)));
            }
            factor
        };
        for i in (0..m).filter(|i| *i != row) {
            let factor = leave(&mut rows[i]);
            right[i] = right[i].minus(&factor.times(&amount));
        }
        leave(&mut gains);
        std::mem::swap(&mut free[column], &mut basic[row]);
    }
    let (mut point, mut prices) = (vec![Fraction::zero(); n], vec![Fraction::zero(); m]);
    for (variable, value) in basic.into_iter().zip(right) {
        if variable < n {
            point[variable] = value;
        }
    }
    for (variable, gain) in free.into_iter().zip(gains) {
        if variable >= n {
            prices[variable - n] = Fraction::zero().minus(&gain);
        }
    }
    (point, prices)
}
