import Accounts
import Commerce
import Entitlements
import Foundation
import Ledger
import Signatures
import Testing
import TestSupport
import Webhooks

/// The conversion of a ledger of an earlier version keeps all data.
@Suite struct ConversionTests: LedgerSuite {
    let fixture: LedgerFixture
    private let issuer = "https://issuer.example"

    init() throws {
        fixture = try LedgerFixture()
    }

    enum Way: CaseIterable {
        case takenOver
        case imported
    }

    static let versions = [14, 15, 16, 17, 18]
    static let cases = versions.flatMap { version in Way.allCases.map { (version, $0) } }

    private func converted(_ version: Int, _ way: Way) throws -> Ledger {
        let earlier = EarlierVersion(number: version)
        switch way {
        case .takenOver where LedgerFixture.isFile:
            let file = folder.file("earlier-\(version).sqlite")
            try earlier.make(at: file)
            return try Ledger(file: file)
        case .takenOver:
            let schema = try TestSchema()
            try earlier.make(in: schema)
            return try Ledger(try PostgreSQLAddress(schema.address))
        case .imported:
            let ledger = try fixture.another()
            var rest: Data? = try earlier.export()
            #expect(
                try ledger.importLines { () throws(ImportError) -> Data? in
                    defer { rest = nil }
                    return rest
                } == (version < 16 ? 79 : 102))
            return ledger
        }
    }

    private func export(_ ledger: Ledger) throws -> String {
        var text = Data()
        _ = try ledger.export { text.append($0) }
        return String(decoding: text, as: UTF8.self)
    }

    @Test(arguments: versions) func `a ledger is converted in place as its export is imported`(version: Int)
        async throws
    {
        let texts = try Way.allCases.map { try export(try converted(version, $0)) }
        #expect(texts[0] == texts[1])
        #expect(texts[0].hasPrefix(#"{"version":21}"#))
    }

    @Test(arguments: cases) func `users keep their items and their audit logs`(version: Int, way: Way) async throws {
        let ledger = try converted(version, way)
        let bed = Item(collection: "bed", number: 2)
        func items(of user: User, after days: Int64) async throws -> [Item] {
            try await ledger.read { try $0.items(of: user, at: Self.later(days * 86400)) }
        }
        // The second period replaces the first one, which has a longer grace period.
        #expect(try await items(of: alice, after: 0) == [Self.sprout1])
        #expect(try await items(of: bob, after: 0) == [bed, Self.sprout1])
        #expect(try await items(of: bob, after: 35) == [bed, Self.sprout1])
        #expect(try await items(of: bob, after: 61) == [Self.sprout1])
        #expect(try await ledger.read { try $0.balances(of: alice, accepting: [.localSandbox]) }.map(\.amount) == [6])
        let bought = try await ledger.read { try $0.transactions(of: bob, before: nil, limit: 9) }
        #expect(bought.map(\.transactionIdentifier) == ["21", "20", "2", "1"])
        #expect(bought.map(\.revocation?.reason) == [nil, nil, nil, nil])
        #expect(bought.map { $0.revocationDate == nil } == [true, true, true, false])
        let audit = try await ledger.read { try $0.audit(of: alice) }
        #expect(audit.count == 11)
        #expect(zip(audit, [nil] + audit.map(Optional.some)).allSatisfy { $0.follows($1) })

        // The first app that redeems is the app of the earlier rows.
        let answer = try await ledger.write {
            try $0.redeem([claim("5"), claim("1"), claim("9")], for: alice, at: Self.now)
        }
        #expect(answer.results == [.alreadyRedeemed, .ownedByAnotherUser, .granted])
        #expect(try export(ledger).contains(#""bundle_id":"com.example.app""#))
        #expect(try !export(ledger).contains(#""table":"parked_transaction""#))
    }

    @Test(arguments: cases) func `back ends keep their answers, deliveries and API keys`(version: Int, way: Way)
        async throws
    {
        let ledger = try converted(version, way)
        func spend(_ digest: UInt8) async throws -> SpendingAnswer {
            let spending = Spending(
                identifier: "other", balance: "coins", amount: 4, reason: "a hat", spentBy: "rotated",
                spentAt: Self.now,
                request: .init(idempotencyKey: "k", digest: [UInt8](repeating: digest, count: 32)))
            return try await ledger.write { try $0.spend(spending, for: alice, accepting: [.localSandbox]) }
        }
        guard case .repeated(let spending, let left) = try await spend(2) else {
            Issue.record("The repeated request spent again.")
            return
        }
        #expect((spending.identifier, spending.spentBy, left) == ("s", "K", 6))
        #expect(try await spend(3) == .keyReused)
        let kept = try await ledger.read {
            try $0.keptAnswer(for: IdempotencyKey(caller: "c", key: "k"), since: Self.now)
        }
        #expect(kept?.bytes == Array("200 application/json\n".utf8) + [0, 255, 10])
        let deliveries = try await ledger.read {
            try $0.webhookDeliveries(to: "e", in: nil, before: nil, limit: 9)
        }
        #expect(deliveries.compactMap(\.lastAttempt?.outcome) == [.answered(status: 204), .unanswered(code: "c")])
        #expect(deliveries.allSatisfy { $0.lastAttempt?.milliseconds == nil && $0.lastAttempt?.response == nil })
        #expect(try await ledger.read { try $0.grants(of: bob, before: nil, limit: 9) }.map(\.identifier) == ["g"])
        #expect(try await ledger.read { try $0.apiKeys() }.map(\.identifier) == ["a"])
    }

    @Test(arguments: cases) func `users keep their accounts and their access`(version: Int, way: Way) async throws {
        let ledger = try converted(version, way)
        let account = try #require(try await ledger.read { try $0.account(emailLowercase: "a@b.co") })
        #expect(account.email == "A@b.co")
        let session = try await ledger.read {
            try $0.session(access: SessionReference(identifier: [UInt8](repeating: 1, count: 16)))
        }
        #expect(session?.user == account.user)
        let composed = try #require(User(issuer: issuer, name: "Ren\u{E9}"))
        let plain = try #require(User(issuer: issuer, name: "Rene"))
        #expect(try await ledger.read { try $0.acceptsAnyNormalization(of: composed) })
        #expect(try await !ledger.read { try $0.acceptsAnyNormalization(of: plain) })
        #expect(try await ledger.read { try $0.usersWithAnyNormalization(issuer: issuer) } == [composed])
    }

    @Test(arguments: versions) func `a converted ledger has the columns and indexes of a new one`(version: Int)
        async throws
    {
        func parts(_ ledger: Ledger) async throws -> Set<String> {
            try await ledger.read { transaction in
                let indexes =
                    LedgerFixture.isFile
                    ? "SELECT name FROM sqlite_master WHERE type = 'index'"
                    // The names of constraints' indexes depend on the tables that were there when they were made.
                    : """
                    SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()
                        AND indexname NOT IN (
                            SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace)
                    """
                let columns =
                    LedgerFixture.isFile
                    ? """
                    SELECT tables.name || '.' || columns.name AS name
                    FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
                    WHERE tables.type = 'table'
                    """
                    : """
                    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
                    WHERE table_schema = current_schema()
                    """
                return Set(
                    try (transaction.database.rows(indexes) + transaction.database.rows(columns)).map {
                        try $0["name"]
                    })
            }
        }
        let new = try await parts(fixture.another())
        #expect(
            new.isSuperset(of: ["webhook_attempt.response", "notification.repeated_at", "notification_by_receipt"]))
        #expect(new.subtracting(try await parts(try converted(version, .takenOver))) == [])
    }

    @Test(arguments: cases) func `the converted ledger is sound`(version: Int, way: Way) async throws {
        let text = try export(try converted(version, way))
        let copy = fixture.ledger
        var rest: Data? = Data(text.utf8)
        _ = try copy.importLines { () throws(ImportError) -> Data? in
            defer { rest = nil }
            return rest
        }
        #expect(try fixture.problems() == [])
    }

    @Test func `an export whose rows contradict each other is refused`() async throws {
        let text = String(decoding: try EarlierVersion(number: 15).export(), as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        let transaction = try #require(lines.firstIndex { $0.contains(#""table":"redeemed_transaction""#) })
        lines.insert(lines[transaction], at: transaction)
        lines.removeLast()
        var hash = lines.joined(separator: "\n") + "\n"
        hash += #"{"rows":80,"sha256":"\#(DigestAlgorithm.sha256.digest(of: Array(hash.utf8)).hexadecimal)"}"# + "\n"
        var rest: Data? = Data(hash.utf8)
        #expect(throws: ImportError.inconsistent(["Its rows contradict each other."])) {
            _ = try ledger.importLines { () throws(ImportError) -> Data? in
                defer { rest = nil }
                return rest
            }
        }
        #expect(try await ledger.read { try $0.apiKeys() }.isEmpty)
    }
}
