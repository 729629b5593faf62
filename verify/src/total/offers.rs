//! What a task of a user costs on each class, at the prices of what is used up, and what few tasks would do there.

use super::Market;
use super::own::Own;
use crate::tolerance::OWN;
use fairplan_instances::User;

/// What a task of a kind costs on a class, and the work that it does there.
pub(super) struct Offer {
    class: usize,
    pub rate: f64,
    /// At the prices of what is used up.
    pub paid: f64,
    /// The same; of classes that are next to nothing to the user at the prices claimed, so that nobody has to go there.
    cost: f64,
}

/// Those of all classes that a kind can use, in their order.
pub(super) struct Offers(Vec<Offer>);

/// What a user with few tasks would do.
pub(super) struct Response {
    /// What each of its tasks is worth to it beside what it costs, and which part of all that it is worth that is.
    pub each: f64,
    pub gain: f64,
    /// The work of all tasks, where they do that on one class whatever they cost. In a linear sum they may as well run elsewhere for as much less.
    pub work: Option<f64>,
}

impl Offers {
    pub fn on(&self, class: usize) -> Option<&Offer> {
        let at = self.0.binary_search_by_key(&class, |offer| offer.class).ok()?;
        self.0.get(at)
    }

    /// The least that a unit of work costs where each task costs so much more.
    pub fn least(&self, each: f64) -> f64 {
        self.0.iter().map(|offer| (offer.cost + each) / offer.rate).fold(f64::INFINITY, f64::min)
    }

    /// Whether tasks on a class that do no less work there cost less elsewhere.
    pub fn is_beaten(&self, here: &Offer) -> bool {
        self.0.iter().any(|other| other.rate >= here.rate && other.cost * (1.0 + OWN) < here.paid)
    }

    pub fn fastest(&self) -> f64 {
        self.0.iter().map(|offer| offer.rate).fold(0.0, f64::max)
    }

    /// The same where tasks cost nothing; 0 where they do everywhere.
    pub fn fastest_for_nothing(&self) -> f64 {
        let free = self.0.iter().filter(|offer| offer.cost == 0.0);
        free.map(|offer| offer.rate).fold(0.0, f64::max)
    }
}

/// What so many tasks would do on classes with these rates and costs, whose last unit of work is worth `margin_at` to their user when they do so much.
///
/// The more a task is worth beside what it costs, the faster is the class on which work is cheapest: so this goes from class to class, to
/// the one where all tasks do what is asked for at that price, or less.
pub(super) fn response(
    offers: impl Iterator<Item = (f64, f64)> + Clone,
    tasks: f64,
    margin_at: impl Fn(f64) -> f64,
) -> Response {
    let mut here = offers.clone().min_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let mut each = 0.0f64;
    while let Some((rate, cost)) = here {
        let enough = rate * margin_at(tasks * rate) - cost;
        if enough <= each {
            break;
        }
        let meets = |class: &(f64, f64)| (class.1 * rate - cost * class.0) / (class.0 - rate);
        let faster = offers.clone().filter(|class| class.0 > rate);
        let next = faster.min_by(|a, b| meets(a).total_cmp(&meets(b))).filter(|class| meets(class) < enough);
        let Some(next) = next else {
            // What is no number is no price.
            let each = each.max(enough).min(f64::MAX);
            return Response { each, gain: each / (each + cost).min(f64::MAX), work: Some(tasks * rate) };
        };
        each = each.max(meets(&next));
        here = Some(next);
    }
    let gain = here.map_or(0.0, |(_, cost)| if each > 0.0 { each / (each + cost) } else { 0.0 });
    Response { each: each.min(f64::MAX), gain, work: None }
}

/// What a user can choose from, and what it would do with few tasks that do more work on some classes than on others.
pub(super) struct Choice {
    /// Of each of its kinds.
    pub offers: Vec<Offers>,
    pub few: Option<Response>,
    /// How many of its tasks run.
    pub running: f64,
}

impl Choice {
    /// What each of few tasks is worth beside what it costs.
    pub fn each(&self) -> f64 {
        self.few.as_ref().map_or(0.0, |few| few.each)
    }

    /// The least that a unit of work costs, with what each task is worth.
    pub fn least(&self) -> f64 {
        self.offers.iter().map(|offers| offers.least(self.each())).sum()
    }
}

impl Own<'_> {
    pub fn choice(&self, user: User<'_>) -> Choice {
        let Market { usable_classes, .. } = *self.market;
        let running = self.claim.tasks.running(user);
        let offers: Vec<Offers> =
            usable_classes.kinds(user).map(|kind| self.offers(user, kind, running)).collect();
        let differ = usable_classes.of_user(user.index().0).rates_differ();
        let few = match (&offers[..], user.tasks()) {
            ([offers], Some(tasks)) if differ => {
                let (unit, weight) = (user.task_share(), user.weight().to_f64());
                let margin_at = |work: f64| self.market.margin_of(weight * unit, work * unit);
                let of_classes = offers.0.iter().map(|offer| (offer.rate, offer.cost));
                let response = response(of_classes, tasks as f64, margin_at);
                Some(Response { work: response.work.filter(|_| self.market.alpha > 0.0), ..response })
            }
            _ => None,
        };
        Choice { offers, few, running }
    }

    /// Those to a kind of a user of whom so many tasks run. Next to nothing are classes that all together could run no more than that part of these.
    fn offers(&self, user: User<'_>, kind: usize, running: f64) -> Offers {
        let Market { usable_classes, .. } = *self.market;
        let usable = usable_classes.of_kind(kind);
        let room: Vec<f64> = usable.classes.iter().map(|class| self.tasks_on(user, kind, *class)).collect();
        let something = least_that_is_something(&room, OWN * running);
        let demand = usable_classes.demand_doubles(user, kind);
        let offer = |(&class, room): (&usize, &f64)| {
            let paid = self.at_used_up.cost_on(user, demand, class);
            let cost = if *room >= something { paid } else { self.market.cost_on(user, demand, class) };
            Offer { class, rate: usable.rate(class).to_f64(), paid, cost }
        };
        Offers(usable.classes.iter().zip(&room).map(offer).collect())
    }
}

/// How much room a class has at least that is something, where no more than `most` is nothing: all with less have no more than that together.
fn least_that_is_something(room: &[f64], most: f64) -> f64 {
    let mut small: Vec<f64> = room.iter().copied().filter(|room| *room <= most).collect();
    small.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    let is_too_much = |room: &&f64| {
        sum += **room;
        sum > most
    };
    small.iter().find(is_too_much).copied().unwrap_or(most.next_up())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_nothing_as_long_as_all_of_them_are_together() {
        let something = |room: &[f64]| least_that_is_something(room, 1.0);
        assert!(something(&[0.2, 0.7, 5.0]) > 1.0 && something(&[0.2, 0.7, 5.0]) < 5.0);
        assert_eq!(something(&[0.3, 5.0, 0.1, 0.7]), 0.7);
        assert_eq!(something(&[0.6; 3]), 0.6, "of those that are alike all count or none");
        assert!(least_that_is_something(&[1e-9], 0.0) <= 1e-9, "who has nothing may have any of them");
    }

    #[test]
    fn few_tasks_run_where_nothing_else_would_be_better() {
        let told = |offers: &[(f64, f64)], tasks: f64, worth: f64| {
            let Response { each, work, .. } = response(offers.iter().copied(), tasks, |work| worth / work);
            (each, work)
        };
        // One that is slow and costs nothing, one that is fast: what 2 tasks do on the slow one is worth 8 a unit, so that the fast one is worth its 3.
        assert_eq!(told(&[(1.0, 0.0), (4.0, 3.0)], 2.0, 16.0), (5.0, Some(8.0)));
        // On both, where the price of a task makes them alike.
        assert_eq!(told(&[(1.0, 0.0), (4.0, 30.0)], 2.0, 48.0), (10.0, None));
        // With more tasks than it would run.
        assert_eq!(told(&[(1.0, 1.0), (4.0, 30.0)], 20.0, 16.0), (0.0, None));
        assert_eq!(told(&[(1.0, 1.0), (4.0, 30.0)], 20.0, f64::INFINITY), (f64::MAX, Some(80.0)));
    }
}
