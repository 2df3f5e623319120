import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing

/// The secrets of a ledger, and the names that it gives to purchase tokens.
@Suite struct LedgerSecretTests: LedgerSuite {
    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"

    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    @Test func `a secret is made once, and every process has the same`() async throws {
        #expect(try await ledger.read { try $0.secret(.purchaseTokens) } == nil)
        let others = try (0..<4).map { _ in try fixture.again() }
        let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for ledger in [ledger] + others { group.addTask { try await ledger.secret(.purchaseTokens) } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(secrets.count == 1 && secrets.first?.count == 32)
        #expect(try await fixture.again().secret(.purchaseTokens) == secrets.first)
        #expect(try await ledger.read { try $0.secret(.purchaseTokens) } == secrets.first)
    }

    @Test func `an import has the names of the exported ledger, and another ledger has others`() async throws {
        let name = try await ledger.tokenNames.name(of: Self.token)
        var exported = Data()
        _ = try ledger.export { exported += $0 }
        let copy = try fixture.another()
        var input: Data? = exported
        _ = try copy.importLines {
            defer { input = nil }
            return input
        }
        #expect(try await copy.tokenNames.name(of: Self.token) == name)
        #expect(try await fixture.another().tokenNames.name(of: Self.token) != name)
    }

    @Test(.enabled(if: LedgerFixture.isFile)) func `a restored backup has the names of its ledger`() async throws {
        let (file, backup) = (folder.file("shop.sqlite"), folder.file("backup.sqlite"))
        let name = try await LedgerFixture.withLedger(at: file) { ledger in
            let name = try await ledger.tokenNames.name(of: Self.token)
            try LedgerFile(file).backUp(to: backup)
            return name
        }
        _ = try LedgerFile(file).restore(from: backup, at: Self.now)
        #expect(try await Ledger(file: file).tokenNames.name(of: Self.token) == name)
    }

    @Test func `a purchase is found by its token, and nothing that is found has the token`() async throws {
        let names = try await ledger.tokenNames
        let name = names.name(of: Self.token)
        _ = try await redeem(claim(name, origin: .googleProduction), for: alice)
        _ = try await notify("1", claim(names.name(of: "parked"), origin: .googleProduction))
        let service = try EntitlementService.ofGarden(over: ledger, clock: SystemClock())
        for text in [Self.token, name] {
            let found = try await service.purchases(ofTransaction: text)
            #expect(found.map(\.owner) == [alice])
            #expect(found.first?.transactions.map(\.transactionIdentifier) == [name])
        }
        #expect(try await service.purchases(ofTransaction: "parked").isEmpty)
        for text in ["parked", names.name(of: "parked")] {
            let found = try await service.unclaimedPurchases(ofTransaction: text, after: nil, limit: 9)
            #expect(found.map(\.transactionIdentifier) == [names.name(of: "parked")])
        }
    }
}
