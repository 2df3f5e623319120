import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The activity of all users, in either database.
@Suite struct ActivityLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func latest(_ origins: Set<Origin>, limit: Int = 10) async throws -> [String] {
        try await ledger.read { try $0.latestActivity(from: origins, limit: limit) }.map {
            "\($0.user?.name ?? "-") \($0.entry.event.rawValue) \($0.entry.reference)"
        }
    }

    private func give(_ identifier: String, to user: User, at moment: Timestamp) async throws {
        let grant = Grant(
            identifier: identifier, item: Self.sprout1, reason: "an apology", grantedBy: "K", grantedAt: moment,
            endsAt: nil)
        _ = try await ledger.write { try $0.add(grant, for: user) }
    }

    @Test func `the latest entries of all users come first, and the environments are apart`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2", origin: .localProduction), for: bob)
        _ = try await redeem(claim("1"), for: bob)
        try await give("g", to: alice, at: Self.later(1))
        let sandbox = try await latest([.localSandbox, .appleSandbox])
        #expect(sandbox.first == "alice itemGiven g")
        #expect(Set(sandbox) == ["alice itemGiven g", "alice granted 1", "bob refused 1"])
        #expect(try await latest([.localProduction]) == ["alice itemGiven g", "bob granted 2"])
        #expect(try await latest([.localProduction], limit: 1) == ["alice itemGiven g"])
        let purchases = try await ledger.read {
            try $0.latestActivity(from: [.localProduction], andOthers: false, limit: 10)
        }
        #expect(purchases.map(\.entry.event) == [.granted])
    }

    @Test func `each entry has its own identifier`() async throws {
        _ = try await redeem(claim("1"), claim("2"), for: alice)
        _ = try await redeem(claim("3"), for: bob)
        let entries = try await ledger.read { try $0.latestActivity(from: [.localSandbox], limit: 10) }
        #expect(entries.count == 3)
        #expect(Set(entries.map(\.id)).count == 3)
    }

    @Test func `an erased user has no name`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await ledger.write { try $0.erase(alice, by: .apiKey("K"), at: Self.later(1)) }
        let entries = try await ledger.read { try $0.latestActivity(from: [.localSandbox], limit: 10) }
        #expect(entries.map(\.entry.event) == [.erased, .granted])
        #expect(entries.allSatisfy { $0.user == nil })
    }

    @Test func `entries are counted by event since a moment`() async throws {
        _ = try await redeem(claim("1"), claim("2"), for: alice)
        _ = try await redeem(claim("1"), for: bob)
        _ = try await redeem(claim("3", origin: .localProduction), for: bob)
        func count(since moment: Timestamp, limit: Int = 100) async throws -> ActivityCount {
            try await ledger.read { try $0.activityCount(from: [.localSandbox], since: moment, limit: limit) }
        }
        let all = try await count(since: Self.now)
        #expect((all[.granted], all[.refused], all[.revoked]) == (2, 1, 0))
        #expect(all.isComplete)
        #expect(try await count(since: Self.later(3_600))[.granted] == 0)
        let some = try await count(since: Self.now, limit: 3)
        #expect(some[.granted] + some[.refused] == 3)
        #expect(!some.isComplete)
    }
}
