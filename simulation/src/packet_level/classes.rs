//! What the packets of a class take of each resource.

use fairplan_instances::Traffic;

/// Flows that are alike.
pub(super) struct PacketClass {
    /// By packet and resource; row-major. Packets come one after the other, and again from the first.
    service_times: Vec<f64>,
    resources: usize,
    /// The largest of the service times of the first packet.
    pub dominant: f64,
    /// How long the answer to a packet travels.
    pub propagation_time: f64,
}

impl PacketClass {
    /// Class `k` of `traffic`, of whose flows the mean work is cut into so many packets.
    pub fn new(traffic: &Traffic, k: usize, packets_per_flow: f64) -> Self {
        let class = &traffic.classes()[k];
        let work = class.work.mean / packets_per_flow;
        let packets = match &class.packet_demands[..] {
            [] => std::slice::from_ref(&class.demand),
            packets => packets,
        };
        let parts = |packet: &Vec<f64>| -> Vec<f64> {
            packet.iter().zip(traffic.capacity()).map(|(demand, capacity)| demand / capacity).collect()
        };
        let service_times: Vec<f64> = packets.iter().flat_map(parts).map(|part| part * work).collect();
        let resources = traffic.resources().len();
        let dominant = service_times[..resources].iter().copied().fold(0.0, f64::max);
        Self { service_times, resources, dominant, propagation_time: class.propagation_time }
    }

    pub fn service_time(&self, packet: u32, resource: usize) -> f64 {
        self.service_times[packet as usize * self.resources + resource]
    }

    /// The next packet of a flow.
    pub fn after(&self, packet: u32) -> u32 {
        if (packet as usize + 1) * self.resources < self.service_times.len() { packet + 1 } else { 0 }
    }

    /// The first resource from `from` on that a packet needs.
    pub fn stop(&self, packet: u32, from: usize) -> Option<usize> {
        (from..self.resources).find(|r| self.service_time(packet, *r) > 0.0)
    }
}
