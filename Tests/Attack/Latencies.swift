import NIOCore

/// The latencies of one kind of probe.
struct Latencies: Sendable {
    private var values: [TimeAmount] = []
    /// The reasons of failed probes, without repetition.
    private(set) var failures: Set<String> = []

    /// Adds the latency of a good answer.
    mutating func add(_ latency: TimeAmount) {
        values.append(latency)
    }

    /// Adds a probe without a good answer, with the longest latency.
    mutating func addFailure(_ reason: String) {
        values.append(Probe.limit)
        failures.insert(reason)
    }

    var count: Int { values.count }

    /// The longest latency, and the limit if no probe was sent.
    var worst: TimeAmount { values.max() ?? Probe.limit }

    /// The latency by nearest rank.
    ///
    /// - Parameter share: The share of probes that were answered in this time or less, from 0 to 1.
    func percentile(_ share: Double) -> TimeAmount {
        guard !values.isEmpty else { return Probe.limit }
        let rank = Int((Double(values.count) * share).rounded(.up))
        return values.sorted()[min(max(rank, 1), values.count) - 1]
    }
}
