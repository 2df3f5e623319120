import Foundation
import Proofs
import TestSupport
import Testing

/// A year that a local App Store plays to a service on a socket, with most notifications that it can send.
@Suite struct YearTests {
    private static let prompt = Task { try await Year.play(.prompt) }

    @Test func `each customer's story has what has happened, and nothing else`() async throws {
        try Self.expect(try await Self.prompt.value.stories, ExpectedStories.all)
    }

    @Test func `states and items follow the store through the year`() async throws {
        let record = try await Self.prompt.value
        #expect(record.months == ExpectedStates.months)
        try Self.expect(record.items, ExpectedStates.items)
        try Self.expect(record.subscriptions, ExpectedStates.subscriptions)
        #expect(record.balances == ExpectedStates.items.mapValues { _ in ExpectedStates.balance })
        #expect(record.unclaimed == ExpectedStates.unclaimed)
    }

    @Test func `figures follow from the sales`() async throws {
        let record = try await Self.prompt.value
        Self.expect(record.figures, ExpectedFigures.all)
        Self.expect(record.breakdowns, ExpectedFigures.breakdowns)
    }

    @Test func `each item of each customer is explained`() async throws {
        let record = try await Self.prompt.value
        try Self.expect(record.explanations, ExpectedExplanations.all)
        #expect(Set(record.causes.keys) == Set(ExpectedCauses.all.keys))
        for (item, causes) in ExpectedCauses.all { #expect(record.causes[item] == causes, "\(item)") }
    }

    /// Only the stories depend on the delivery: they tell when the service has heard of something.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `notifications that are late, doubled and out of order make no difference`(seed: UInt64) async throws {
        let (record, prompt) = (try await Year.play(.disturbed(seed: seed)), try await Self.prompt.value)
        try Self.expect(record.items, prompt.items)
        try Self.expect(record.subscriptions, prompt.subscriptions)
        try Self.expect(record.explanations, prompt.explanations)
        Self.expect(record.figures, prompt.figures)
        Self.expect(record.breakdowns, prompt.breakdowns)
        #expect(record.balances == prompt.balances && record.unclaimed == prompt.unclaimed)
        #expect(record.notifications == prompt.notifications)
        #expect(record.stories != prompt.stories)
    }

    /// A type or subtype that the store learns to send has to come up in the year, or in a recorded one.
    @Test func `the years have every notification that the store can send`() async throws {
        let sent = try await RecordedYear.all.reduce(into: Self.prompt.value.sent) {
            try $0.formUnion($1.notifications())
        }
        #expect(sent == Set(NotificationTypeV2.allCases.flatMap(SentNotifications.names)))
        let sources = try SentNotifications.sourcesOfStore()
        for type in NotificationTypeV2.allCases
        where SentNotifications.subtypes(of: type).isEmpty {
            #expect(!sources.contains(try Regex("\\.\(type)\\b")), "The store sends \(type)")
        }
        for subtype in Subtype.allCases {
            guard !sent.contains(where: { $0.hasSuffix(" \(subtype.rawValue)") }) else { continue }
            #expect(!sources.contains(try Regex("\\.\(subtype)\\b")), "The store sends \(subtype)")
        }
    }

    private static func expect(_ met: [String: String], _ expected: [String: String]) throws {
        #expect(Set(met.keys) == Set(expected.keys))
        for (customer, text) in expected {
            let met = try #require(met[customer])
            expect(
                met.split(separator: "\n").map { "\(customer): \($0)" },
                text.split(separator: "\n").map { "\(customer): \($0)" })
        }
    }

    /// Each line that differs, and the whole.
    private static func expect(_ met: [String], _ expected: [String]) {
        for (met, expected) in zip(met, expected) { #expect(met == expected) }
        #expect(met.count == expected.count)
    }
}
