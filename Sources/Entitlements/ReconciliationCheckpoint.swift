import Commerce
import Foundation

/// The last complete reconciliation of a subject with the App Store.
public struct ReconciliationCheckpoint: Hashable, Sendable {
    /// The moment until which the statements of the App Store were fetched.
    public let until: Timestamp
    /// The number of each outcome of the run (`granted`, `duplicate`, …, or the code of a refusal); nil if the run
    /// counted none, or an early version ran.
    public let findings: [String: Int]?

    public init(until: Timestamp, findings: [String: Int]?) {
        self.until = until
        self.findings = findings
    }

    /// - Parameter findings: The findings as JSON.
    init(until: Timestamp, findings: String?) {
        self.init(
            until: until,
            findings: findings.flatMap { try? JSONDecoder().decode([String: Int].self, from: Data($0.utf8)) })
    }

    /// The findings as JSON.
    var findingsText: String? {
        guard let findings else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(findings)).map { String(decoding: $0, as: UTF8.self) }
    }
}
