import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The example alert rules for Prometheus, against the metrics of the service.
@Suite struct AlertRuleTests {
    private let rules: String

    init() throws {
        rules = try Project.text("Documentation/alerts.yml")
    }

    /// The names of all series that the service exports.
    private static var series: Set<String> {
        let end = Timestamp(secondsSince1970: 0)
        let text = ServiceMetrics().text(certificateEndsAt: end, queueDepth: 0, listeners: 0)
        return Set(
            text.matches(of: /# TYPE (\w+) (\w+)/).flatMap { match -> [String] in
                let name = String(match.1)
                return match.2 == "histogram" ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
            })
    }

    @Test func `each metric of the rules is exported`() {
        let named = Set(rules.matches(of: /till_\w+/).map { String($0.output) })
        #expect(named.count >= 8)
        #expect(named.subtracting(Self.series) == [])
    }

    @Test func `each label of the rules is one of the exported labels`() throws {
        let metrics = ServiceMetrics()
        metrics.countRequest(method: "GET", route: "/", status: 200, duration: .seconds(1))
        metrics.count(.redemptions, "refused", code: "x")
        let text = metrics.text(queueDepth: 0, duties: [("acknowledgement", 1, 0, 60)])
        let exported = Set(text.matches(of: /[{,](\w+)="/).map { String($0.1) })
        // Prometheus adds the last two.
        let known = exported.union(["instance", "job"])
        let selectors = rules.matches(of: /[{ ](\w+)(?:=|!=|=~|!~)"/).map { String($0.1) }
        let groups = rules.matches(of: /by \(([\w, ]+)\)/).flatMap { match in
            match.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let templates = rules.matches(of: /\$labels\.(\w+)/).map { String($0.1) }
        #expect(!selectors.isEmpty && !groups.isEmpty && !templates.isEmpty)
        #expect(Set(selectors + groups + templates).subtracting(known) == [])
    }

    /// An answer that Apple awaits within a second cannot wait in the ledger as a duty.
    @Test func `a rule watches each deadline of a store, also that of a retention message`() {
        let blocks = rules.components(separatedBy: "- alert: ")
        for (name, series) in [
            ("TillDutyDue", "till_duty_seconds_left"), ("TillDutyMissed", "till_duties_missed"),
            ("TillRetentionLate", #"till_retention_answers_total{code=~"ledgerLate|ledgerFailed"}"#),
        ] {
            #expect(blocks.contains { $0.hasPrefix(name + "\n") && $0.contains(series) }, "\(name)")
        }
    }

    @Test func `each rule has an expression, a severity, a summary and a remedy`() {
        let blocks = rules.components(separatedBy: "- alert: ").dropFirst()
        #expect(blocks.count >= 10)
        for block in blocks {
            for part in ["expr:", "severity:", "summary:", "description:"] {
                #expect(block.contains(" \(part) "), "\(block.prefix { $0 != "\n" }): \(part)")
            }
        }
        #expect(Set(blocks.map { $0.prefix { $0 != "\n" } }).count == blocks.count)
    }
}
