import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The actions of the members on all users.
@Suite struct TeamActionTests {
    private let folder: TemporaryFolder
    private let ledger: Ledger
    private let team: TeamService
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        team = TeamService(ledger: ledger, clock: ManualClock(), cost: .minimal)
    }

    /// Gives an item to a user, a number of seconds after the start.
    private func give(_ identifier: String, to name: String, by caller: String, at second: Int64) async throws {
        let user = try #require(User(name: name))
        let grant = Grant(
            identifier: identifier, item: Item(collection: "sprout", number: 1), reason: "an apology",
            grantedBy: caller, grantedAt: Self.start.adding(seconds: second), endsAt: nil)
        try await ledger.write {
            _ = try $0.add(grant, for: user)
        }
    }

    private func references(_ page: (actions: [ActivityEntry], end: RecordPosition?)) -> [String] {
        page.actions.map(\.entry.reference)
    }

    @Test func `the actions of people are listed, newest first, and those of keys are not`() async throws {
        try await give("1", to: "alice", by: "member ada", at: 1)
        try await give("2", to: "bob", by: "member jun", at: 3)
        try await give("3", to: "alice", by: "K", at: 4)
        try await give("4", to: "alice", by: "member ada", at: 2)
        let page = try await team.actions(limit: 10)
        #expect(references(page) == ["2", "4", "1"])
        #expect(page.actions.map { $0.user?.name } == ["bob", "alice", "alice"])
        #expect(page.actions.allSatisfy { $0.entry.event == .itemGiven && $0.entry.reason == "an apology" })
        #expect(page.end == nil)
        #expect(references(try await team.actions(of: "ada", limit: 10)) == ["4", "1"])
        #expect(references(try await team.actions(of: "nobody", limit: 10)) == [])
        #expect(references(try await team.actions(event: .itemTakenBack, limit: 10)) == [])
        #expect(references(try await team.actions(of: "jun", event: .itemGiven, limit: 10)) == ["2"])
    }

    @Test(arguments: [1, 2, 3, 100]) func `the pages have each action once`(limit: Int) async throws {
        for number in 1...7 {
            let caller = number.isMultiple(of: 2) ? "member ada" : "member jun"
            // Some happen in the same millisecond.
            try await give("\(number)", to: "user\(number % 3)", by: caller, at: Int64(number / 2))
        }
        for member in [nil, "ada", "jun"] {
            var (found, position): ([String], RecordPosition?) = ([], nil)
            for _ in 0..<20 {
                let page = try await team.actions(of: member, after: position, limit: limit, searching: 3)
                found += references(page)
                position = page.end.flatMap { RecordPosition($0.description) }
                if position == nil { break }
            }
            #expect(position == nil)
            let expected = (1...7).filter { member == nil || $0.isMultiple(of: 2) == (member == "ada") }.map { "\($0)" }
            #expect(found.sorted() == expected)
        }
    }

    @Test(arguments: ["", "1 2", "1 2 x", "1 2 3 4", " 1 2 3"]) func `a wrong place is none`(text: String) {
        #expect(RecordPosition(text) == nil)
    }
}
