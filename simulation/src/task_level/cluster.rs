//! What jobs run and wait for, and what is taken of each resource.

use crate::tolerance::ROOM;
use fairplan_instances::Traffic;

/// Jobs in progress on resources of which there is 1 each.
pub(super) struct Cluster {
    resources: usize,
    /// What a task takes, by class and resource; row-major.
    needs: Vec<f64>,
    jobs: Vec<Job>,
    /// Places in `jobs` that are free.
    free: Vec<usize>,
    /// Places in `jobs` that are not, in the order of arrival.
    present: Vec<usize>,
    /// Tasks that run, by class.
    running: Vec<u32>,
    bottlenecks: Vec<bool>,
}

struct Job {
    class: usize,
    waiting: u64,
    running: u32,
}

impl Cluster {
    pub fn new(traffic: &Traffic, task_share: f64) -> Self {
        let (classes, resources) = (traffic.classes().len(), traffic.resources().len());
        let need = move |k: usize, r: usize| task_share * traffic.part(k, r) / traffic.dominant_part(k);
        Self {
            resources,
            needs: (0..classes).flat_map(|k| (0..resources).map(move |r| need(k, r))).collect(),
            jobs: Vec::new(),
            free: Vec::new(),
            present: Vec::new(),
            running: vec![0; classes],
            bottlenecks: vec![false; resources],
        }
    }

    pub fn class(&self, job: usize) -> usize {
        self.jobs[job].class
    }

    /// Tasks of a job that run.
    pub fn running(&self, job: usize) -> u32 {
        self.jobs[job].running
    }

    /// All jobs.
    pub fn present(&self) -> &[usize] {
        &self.present
    }

    /// The jobs with tasks that wait.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        self.present.iter().copied().filter(|job| self.jobs[*job].waiting > 0)
    }

    pub fn need(&self, class: usize, resource: usize) -> f64 {
        self.needs[class * self.resources + resource]
    }

    fn used(&self, resource: usize) -> f64 {
        self.running.iter().enumerate().map(|(k, running)| f64::from(*running) * self.need(k, resource)).sum()
    }

    fn has_room(&self, class: usize, resource: usize) -> bool {
        let need = self.need(class, resource);
        need == 0.0 || self.used(resource) + need <= 1.0 + ROOM
    }

    /// Whether one more task of this class fits.
    pub fn fits(&self, class: usize) -> bool {
        (0..self.resources).all(|r| self.has_room(class, r))
    }

    pub fn begin_job(&mut self, class: usize, tasks: u64) {
        let job = Job { class, waiting: tasks, running: 0 };
        match self.free.pop() {
            Some(place) => {
                self.jobs[place] = job;
                self.present.push(place);
            }
            None => {
                self.present.push(self.jobs.len());
                self.jobs.push(job);
            }
        }
    }

    pub fn begin_task(&mut self, job: usize) {
        let job = &mut self.jobs[job];
        job.waiting -= 1;
        job.running += 1;
        self.running[job.class] += 1;
    }

    /// A task ends; whether it was its job's last.
    pub fn end_task(&mut self, job: usize) -> bool {
        let place = job;
        let job = &mut self.jobs[place];
        job.running -= 1;
        self.running[job.class] -= 1;
        let last = job.running == 0 && job.waiting == 0;
        if last {
            self.present.retain(|present| *present != place);
            self.free.push(place);
        }
        last
    }

    /// Takes note of the resources with room for less than two of some task that waits: one may be kept free for the most
    /// deprived job, which waits for another resource. They stay bottlenecks while what ended is given anew.
    pub fn find_bottlenecks(&mut self) {
        for r in 0..self.resources {
            let left = 1.0 - self.used(r);
            let largest = self.waiting().map(|job| self.need(self.class(job), r)).fold(0.0, f64::max);
            self.bottlenecks[r] = largest > 0.0 && left + ROOM < 2.0 * largest;
        }
    }

    /// The resources that had hardly any room for tasks that waited.
    pub fn bottlenecks(&self) -> impl Iterator<Item = usize> {
        (0..self.resources).filter(|r| self.bottlenecks[*r])
    }
}
