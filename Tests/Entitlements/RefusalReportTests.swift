import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The recorded refusals of all users.
@Suite struct RefusalReportTests {
    let garden: TestGarden
    let ledger: Ledger
    let service: EntitlementService

    init() throws {
        garden = try TestGarden()
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock)
    }

    private func user(_ name: String) throws -> User { try #require(User(name: name)) }

    private func signed(_ product: String) throws -> [UInt8] {
        Array(try garden.store.signedTransaction(try garden.buy(product).identifier).utf8)
    }

    /// Presents a proof that is refused for each of the users.
    private func present(_ proof: [UInt8], by users: [String]) async throws {
        for name in users {
            let user = try user(name)
            await #expect(throws: RedemptionError.self) { _ = try await service.redeem(proof, for: user) }
            garden.clock.advance(milliseconds: 1000)
        }
    }

    @Test func `refusals are grouped by code, with the latest ones first`() async throws {
        #expect(try await service.ledger.read { try $0.refusalGroups(since: garden.clock.now(), latest: 5) }.isEmpty)
        let gate = try signed("garden.gate")
        _ = try await service.redeem(gate, for: try user("alice"))
        try await present(gate, by: ["bob", "carol", "dave"])
        let token = try await service.appAccountToken(of: try user("alice"))
        let named = try garden.buy("garden.season", appAccountToken: token)
        try await present(
            Array(try garden.store.signedTransaction(named.identifier).utf8), by: ["bob"])
        let groups = try await service.ledger.read {
            try $0.refusalGroups(since: garden.clock.now().adding(days: -28), latest: 2)
        }
        #expect(groups.map(\.code) == ["appAccountTokenMismatch", "ownedByAnotherUser"])
        #expect(groups.map(\.count) == [1, 3])
        let owned = try #require(groups.last)
        #expect(owned.latest.map(\.user) == [try user("dave"), try user("carol")])
        #expect(owned.latest.allSatisfy { $0.entry.subject == "garden.gate" && $0.entry.origin == .localSandbox })
        // The period ends before the first refusal; the latest ones are of any time.
        let later = try await service.ledger.read {
            try $0.refusalGroups(since: garden.clock.now().adding(days: 1), latest: 2)
        }
        #expect(later.map(\.count) == [0, 0])
        #expect(later.last?.latest == owned.latest)
    }

    @Test func `the refusals of a code are paged`() async throws {
        let gate = try signed("garden.gate")
        _ = try await service.redeem(gate, for: try user("alice"))
        let names = (0..<7).map { "user\($0)" }
        try await present(gate, by: names)
        var (found, position) = ([String](), RecordPosition?.none)
        while true {
            let page = try await service.ledger.read { [position] in
                try $0.refusals(of: "ownedByAnotherUser", before: position, limit: 3)
            }
            guard let last = page.last else { break }
            found += page.compactMap { $0.user?.name }
            let next: RecordPosition = try #require(.init(last.position.description))
            position = next
        }
        #expect(found == names.reversed())
        #expect(RecordPosition("1 2") == nil && RecordPosition("a b c") == nil)
        #expect(try await service.ledger.read { try $0.refusals(of: "productUnknown", before: nil, limit: 3) }.isEmpty)
    }

    @Test func `an erased user's refusals have no name`() async throws {
        let gate = try signed("garden.gate")
        _ = try await service.redeem(gate, for: try user("alice"))
        try await present(gate, by: ["bob"])
        let bob = try user("bob")
        #expect(try await service.ledger.write { try $0.erase(bob, by: .user, at: service.clock.now()) })
        let refusals = try await service.ledger.read {
            try $0.refusals(of: "ownedByAnotherUser", before: nil, limit: 3)
        }
        #expect(refusals.map(\.user) == [nil])
    }
}
