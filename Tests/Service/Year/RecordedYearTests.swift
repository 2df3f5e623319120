import Foundation
import TestSupport
import Testing

/// Years whose whole journals are kept: notifications, states of the store's API, stories, webhooks, items, subscriptions, seats and
/// figures, a line each.
///
/// `TILL_RECORD_YEARS=1 Scripts/swift-test.sh --filter RecordedYearTests` writes the journals anew. Read each changed line against
/// Apple's or Google's documentation before you commit it.
@Suite struct RecordedYearTests {
    private static let recordsAnew = ProcessInfo.processInfo.environment["TILL_RECORD_YEARS"] == "1"

    @Test(arguments: RecordedYear.all)
    func `a year goes as its journal says`(year: RecordedYear) async throws {
        try Self.expect(try await Year.journal(of: year), in: year.file)
    }

    @Test func `a year of subscriptions on Google Play goes as its journal says`() async throws {
        try Self.expect(try await PlayYear.journal(), in: RecordedYear.file(of: "play"))
    }

    @Test func `a year on Google Play ends the same without a notification, because the service asks`() async throws {
        Self.expect(try await PlayYear.end(.asking), try await PlayYear.end(.notified))
    }

    @Test(arguments: RecordedYear.all)
    func `a year ends the same with notifications that are late, doubled, lost and out of order`(
        year: RecordedYear
    ) async throws {
        Self.expect(try await Year.end(of: year, seed: 1), try year.end())
    }

    /// Compares a journal with its file, or writes the file anew.
    private static func expect(_ journal: [String], in file: URL) throws {
        guard !recordsAnew else { return try Data((journal.joined(separator: "\n") + "\n").utf8).write(to: file) }
        expect(journal, try RecordedYear.lines(of: file))
    }

    private static func expect(_ met: [String], _ expected: [String]) {
        let differences = differences(met, expected)
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    /// The lines that are missing (`-`) and those that are too many (`+`), each with its number, in their order.
    private static func differences(_ met: [String], _ expected: [String]) -> [String] {
        let changes = met.difference(from: expected).map { change -> (number: Int, text: String) in
            switch change {
            case .remove(let offset, let line, _): (offset + 1, "- \(offset + 1): \(line)")
            case .insert(let offset, let line, _): (offset + 1, "+ \(offset + 1): \(line)")
            }
        }
        return changes.sorted { $0.number < $1.number }.map(\.text)
    }
}
