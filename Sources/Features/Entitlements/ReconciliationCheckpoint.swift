import Foundation
import Ledger
import Proofs

/// The last complete reconciliation of a subject with the App Store.
package struct ReconciliationCheckpoint: Hashable, Sendable {
    /// The moment until which the statements of the App Store were fetched.
    package let until: Timestamp
    /// The number of each outcome of the run: `granted`, `duplicate`, …, or the code of a refusal.
    package let findings: [String: Int]

    package init(until: Timestamp, findings: [String: Int]) {
        self.until = until
        self.findings = findings
    }

    init(_ row: SQLRow) throws {
        let text: String = try row["findings"]
        guard let findings = try? JSONDecoder().decode([String: Int].self, from: Data(text.utf8)) else {
            throw SQLRow.Mismatch(column: "findings")
        }
        self.init(until: try row["reconciled_until"], findings: findings)
    }

    /// The findings as JSON.
    var findingsText: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(findings), as: UTF8.self)
        }
    }
}
