import Foundation
import NIOCore

/// The measurements of one attack.
struct AttackReport: Sendable {
    let name: String
    let latencies: [String: Latencies]
    let memory: ProcessMemory
    let findings: [Finding]
    let end: AttackedService.End
    /// The connections that the attacker has opened.
    let connections: Int
    /// The last lines that the service has logged.
    let log: String

    var health: Latencies { self[Probe.health.name] }
    /// The names of the probes that may take up to two seconds: the redemption and those of this attack alone.
    var slowProbes: [String] {
        let own = latencies.keys.filter { ![Probe.health.name, Probe.redemptionName].contains($0) }
        return [Probe.redemptionName] + own.sorted()
    }

    subscript(probe: String) -> Latencies { latencies[probe] ?? Latencies() }

    /// The report in one line.
    var line: String {
        let worst = slowProbes.map { "worst \($0) \(Self.text(self[$0].worst)) (of \(self[$0].count))" }
        let parts =
            [
                "\(health.count) probes", "p50 \(Self.text(health.percentile(0.5)))",
                "p99 \(Self.text(health.percentile(0.99)))", "worst \(Self.text(health.worst))",
            ] + worst + [
                "stopped in \(Self.text(TimeAmount(end.duration))) with status \(end.status)",
                "peak memory \(Self.text(memory.peak)), at the end \(Self.text(memory.current))",
                "\(connections) connections",
            ] + findings.map(\.description)
        return "Attack \(name): \(parts.joined(separator: ", "))"
    }

    /// The line, the reasons of failed probes and the log, for a failed expectation.
    var details: String {
        let failures = latencies.sorted { $0.key < $1.key }.flatMap { name, latencies in
            latencies.failures.sorted().prefix(3).map { "\(name) failed: \($0.prefix(200))" }
        }
        return ([line] + failures + [log]).joined(separator: "\n")
    }

    private static func text(_ time: TimeAmount) -> String {
        String(format: "%.1f ms", Double(time.nanoseconds) / 1e6)
    }

    private static func text(_ bytes: Int) -> String {
        "\(bytes >> 20) MiB"
    }
}
