//! Resources in series, each with a queue of packets for each flow and one packet in service. A flow lets its next packet
//! in when one of its window has passed all resources and the answer has come.

use super::classes::PacketClass;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

/// By which start times packets are served, the smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queueing {
    /// One start time for all resources, that of the last packet and its largest service time (MRF eq. 2).
    Dominant,
    /// In each resource that of the last packet and its service time, over how many of the flow's packets are there (MRF
    /// eq. 5).
    Proportional,
    /// In each resource that of the last packet and its service time (MRF eq. 7).
    BottleneckMax,
}

/// The resources and the flows in progress.
pub(super) struct Router {
    classes: Vec<PacketClass>,
    queueing: Queueing,
    window: u64,
    resources: Vec<Resource>,
    /// Answers under way, by class: when they come, and to which flow.
    answers: Vec<VecDeque<(f64, usize)>>,
    flows: Vec<Flow>,
    /// Places in `flows` that are free.
    free: Vec<usize>,
    /// `Queueing::Dominant`: the largest start time of any packet whose service began at any resource.
    virtual_time: f64,
}

/// What happens next.
#[derive(Clone, Copy)]
pub(super) enum Event {
    /// A resource has served a packet.
    Served(usize),
    /// The answer to a packet of this class comes.
    Answered(usize),
}

struct Resource {
    /// When it is done with the packet in service; infinity when there is none.
    done: f64,
    flow: usize,
    packet: u32,
    /// Flows with packets waiting, by the start times of the first. Bits of numbers that are not negative are in the
    /// order of the numbers.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// The start time of the last packet whose service began.
    virtual_time: f64,
}

struct Flow {
    class: usize,
    /// Packets not yet let in.
    unsent: u64,
    /// Packets let in whose service is not complete, and those that an answer under way will let in.
    under_way: u64,
    /// The next packet to let in, as its class numbers them.
    next: u32,
    /// `Queueing::Dominant`: the start time of the packet that is let in next, if it is not to wait for the virtual time.
    finish: f64,
    /// By resource.
    queues: Vec<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Packet>,
    /// Packets that wait or are in service (MRF's Q).
    present: u32,
    /// The start time of the last packet whose service began, and what it counts for.
    finish: f64,
}

#[derive(Clone, Copy)]
struct Packet {
    number: u32,
    /// It starts no earlier: the virtual time when it came.
    earliest: f64,
}

impl Router {
    pub fn new(classes: Vec<PacketClass>, resources: usize, queueing: Queueing, window: u32) -> Self {
        let resource = || Resource {
            done: f64::INFINITY,
            flow: 0,
            packet: 0,
            waiting: BinaryHeap::new(),
            virtual_time: 0.0,
        };
        Self {
            queueing,
            window: window.into(),
            resources: (0..resources).map(|_| resource()).collect(),
            answers: classes.iter().map(|_| VecDeque::new()).collect(),
            classes,
            flows: Vec::new(),
            free: Vec::new(),
            virtual_time: 0.0,
        }
    }

    /// When something happens next, and what.
    pub fn next(&self) -> (f64, Event) {
        let mut next = (f64::INFINITY, Event::Served(0));
        for (r, resource) in self.resources.iter().enumerate() {
            if resource.done < next.0 {
                next = (resource.done, Event::Served(r));
            }
        }
        for (k, answers) in self.answers.iter().enumerate() {
            if let Some((time, _)) = answers.front()
                && *time < next.0
            {
                next = (*time, Event::Answered(k));
            }
        }
        next
    }

    /// Makes it happen; if it completes a flow, the class of that.
    pub fn advance(&mut self, now: f64, event: Event) -> Option<usize> {
        let completed = match event {
            Event::Served(r) => self.served(r, now),
            Event::Answered(k) => {
                if let Some((_, flow)) = self.answers[k].pop_front() {
                    self.send(flow);
                }
                None
            }
        };
        self.serve(now);
        completed
    }

    /// A flow of so many packets arrives and lets in as many as its window holds.
    pub fn begin_flow(&mut self, class: usize, packets: u64, now: f64) {
        let first = packets.min(self.window);
        let flow = self.free.pop().unwrap_or_else(|| {
            let queues = self.resources.iter().map(|_| Queue::default()).collect();
            self.flows.push(Flow { class, unsent: 0, under_way: 0, next: 0, finish: 0.0, queues });
            self.flows.len() - 1
        });
        let begun = &mut self.flows[flow];
        begun.class = class;
        (begun.unsent, begun.under_way, begun.next, begun.finish) = (packets - first, first, 0, 0.0);
        begun.queues.iter_mut().for_each(|queue| queue.finish = 0.0);
        for _ in 0..first {
            self.send(flow);
        }
        self.serve(now);
    }

    /// Lets in the next packet of a flow.
    fn send(&mut self, flow: usize) {
        let sender = &mut self.flows[flow];
        let class = &self.classes[sender.class];
        let number = sender.next;
        sender.next = class.after(number);
        let start = self.virtual_time.max(sender.finish);
        if self.queueing == Queueing::Dominant {
            sender.finish = start + class.dominant;
        }
        if let Some(first) = class.stop(number, 0) {
            self.join(flow, first, number, start);
        }
    }

    /// A packet comes to a resource; its `start` time counts for `Queueing::Dominant`.
    fn join(&mut self, flow: usize, r: usize, number: u32, start: f64) {
        let resource = &mut self.resources[r];
        let queue = &mut self.flows[flow].queues[r];
        let earliest = if self.queueing == Queueing::Dominant { start } else { resource.virtual_time };
        queue.present += 1;
        queue.waiting.push_back(Packet { number, earliest });
        if queue.waiting.len() == 1 {
            resource.waiting.push(Reverse((earliest.max(queue.finish).to_bits(), flow)));
        }
    }

    /// Every resource that is idle and that packets wait for begins to serve the one with the smallest start time.
    fn serve(&mut self, now: f64) {
        for r in 0..self.resources.len() {
            let resource = &mut self.resources[r];
            if resource.done != f64::INFINITY {
                continue;
            }
            let Some(mut first) = resource.waiting.peek_mut() else { continue };
            let Reverse((start, flow)) = *first;
            let start = f64::from_bits(start);
            let served = &mut self.flows[flow];
            let queue = &mut served.queues[r];
            let Some(packet) = queue.waiting.pop_front() else { continue };
            let service_time = self.classes[served.class].service_time(packet.number, r);
            queue.finish = match self.queueing {
                Queueing::Dominant => start,
                Queueing::Proportional => start + service_time / f64::from(queue.present),
                Queueing::BottleneckMax => start + service_time,
            };
            match queue.waiting.front() {
                Some(next) => *first = Reverse((next.earliest.max(queue.finish).to_bits(), flow)),
                None => drop(PeekMut::pop(first)),
            }
            (resource.done, resource.flow, resource.packet) = (now + service_time, flow, packet.number);
            resource.virtual_time = start;
            self.virtual_time = self.virtual_time.max(start);
        }
    }

    /// The packet in service moves on: to the next resource that it needs, or out. If it was its flow's last, the class of
    /// that.
    fn served(&mut self, r: usize, now: f64) -> Option<usize> {
        let resource = &mut self.resources[r];
        let (flow, number) = (resource.flow, resource.packet);
        resource.done = f64::INFINITY;
        let sender = &mut self.flows[flow];
        let queue = &mut sender.queues[r];
        queue.present -= 1;
        let class = &self.classes[sender.class];
        if let Some(next) = class.stop(number, r + 1) {
            // With one start time for all resources, it is the one with which its service here began.
            let start = queue.finish;
            self.join(flow, next, number, start);
            return None;
        }
        sender.under_way -= 1;
        if sender.unsent > 0 {
            sender.unsent -= 1;
            sender.under_way += 1;
            if class.propagation_time > 0.0 {
                self.answers[sender.class].push_back((now + class.propagation_time, flow));
            } else {
                self.send(flow);
            }
            return None;
        }
        (sender.under_way == 0).then(|| {
            self.free.push(flow);
            sender.class
        })
    }
}
