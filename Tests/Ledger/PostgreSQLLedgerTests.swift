import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Tests of PostgreSQL only: several services on one ledger, lost connections, and the constraints of the tables.
@Suite(.enabled(if: !LedgerFixture.isFile)) struct PostgreSQLLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    let schema: TestSchema

    init() throws {
        fixture = try LedgerFixture()
        schema = try #require(fixture.schema)
    }

    @discardableResult
    private func atOnce<Value: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            var values: [Value] = []
            for try await value in group { values.append(value) }
            return values
        }
    }

    @Test func `an order of text by a language is noticed`() async throws {
        #expect(try await ledger.read { try $0.ordersTextByBytes() })
        // A PostgreSQL without ICU has no such collation.
        let count = try schema.execute("SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'")
        guard count == ["1"] else { return }
        try schema.execute("ALTER TABLE user_name ALTER COLUMN name TYPE text COLLATE \"en-x-icu\"")
        #expect(try await !ledger.read { try $0.ordersTextByBytes() })
    }

    @Test func `concurrent redemptions grant a transaction once`() async throws {
        let fixture = fixture
        let (claim, users) = (claim(), [alice, bob])
        let all = try await atOnce(16) { number in
            let (ledger, user) = (try fixture.again(), users[number % 2])
            return try await ledger.write { try $0.redeem([claim], for: user, at: Self.now) }.results
        }.joined()
        #expect(all.count { $0 == .granted } == 1)
        #expect(all.count { $0 == .alreadyRedeemed } == 7)
        #expect(all.count { $0 == .ownedByAnotherUser } == 8)
        #expect(try fixture.problems() == [])
    }

    /// Two services commit groups for the same users and purchases, and a third one receives refunds.
    @Test func `concurrent groups are serializable`() async throws {
        let (fixture, users) = (fixture, (0..<8).compactMap { User(name: "user\($0)") })
        let claims = (0..<200).map { claim("\($0)", original: "\($0 / 2)", item: Item(collection: "s", number: $0)) }
        let refunds = claims.map(\.transactionIdentifier).map {
            claim($0, revoked: Self.later(1), signedAt: Self.later(1), item: Item(collection: "s", number: 1))
        }
        let granted = try await atOnce(3) { service in
            try grants(in: try fixture.again(), ofGroups: claims.count / 25) { number, transaction in
                guard service == 2 else {
                    let user = users[number / 2 % 8]
                    return try transaction.redeem([claims[number]], for: user, at: Self.now).results
                }
                if number.isMultiple(of: 5) { _ = try transaction.record(refunds[number], at: Self.now) }
                return []
            }
        }
        let (owned, transactions) = try property(of: users)
        #expect(transactions == claims.count)
        // A refund may precede its transaction, which is then not granted.
        #expect(owned == claims.count - claims.count / 5)
        #expect((owned...claims.count).contains(granted.reduce(0, +)))
        #expect(try fixture.problems() == [])
    }

    /// The number of grants in group commits of 25 use cases each. A retried use case is counted once.
    private func grants(
        in ledger: Ledger,
        ofGroups count: Int,
        _ redeem: @escaping (Int, LedgerTransaction) throws -> [Redemption.Result]
    ) throws -> Int {
        var granted: [Int: Int] = [:]
        for group in 0..<count {
            try ledger.allTogether(
                (group * 25..<group * 25 + 25).map { number in
                    { granted[number] = try redeem(number, $0).count { $0 == .granted } }
                })
        }
        return granted.values.reduce(0, +)
    }

    /// The numbers of items and of transactions that users have.
    private func property(of users: [User]) throws -> (items: Int, transactions: Int) {
        try ledger.readNow { transaction in
            (
                try users.map { try transaction.items(of: $0, at: Self.now).count }.reduce(0, +),
                try users.map { try transaction.transactions(of: $0, before: nil, limit: .max).count }.reduce(0, +)
            )
        }
    }

    @Test func `concurrent spendings do not overdraw a balance`() async throws {
        let (fixture, alice) = (fixture, alice)
        _ = try await redeem(claim(item: nil, credit: Credit(balance: "coins", amount: 10)), for: alice)
        let spent = try await atOnce(12) { number in
            let spending = Spending(
                identifier: "s\(number)", balance: "coins", amount: 4, reason: "a hat", spentBy: "K", spentAt: Self.now)
            do {
                _ = try await fixture.again().write { try $0.spend(spending, for: alice, accepting: [.localSandbox]) }
                return true
            } catch BalanceError.balanceTooLow {
                return false
            }
        }
        #expect(spent.count { $0 } == 2)
        #expect(try await ledger.read { try $0.balances(of: alice, accepting: [.localSandbox]) }.map(\.amount) == [2])
        #expect(try fixture.problems() == [])
    }

    /// The ledger retries only a transaction that was not committed, and answers after it knows. A retry of a committed one
    /// would return `alreadyRedeemed`.
    @Test(arguments: [
        [LossyLine.Cut.beforeCommit], [.afterCommit], [.afterCommit, .afterCommit], [.beforeCommit, .afterCommit],
        [.afterCommit, .beforeCommit, .afterCommit, .beforeCommit],
    ])
    func `a commit whose answer was lost is looked up`(cuts: [LossyLine.Cut]) async throws {
        let (line, address) = try schema.line()
        let ledger = try Ledger(try PostgreSQLAddress(address))
        for cut in cuts { line.cut(cut) }
        #expect(try await ledger.write { try $0.redeem([claim("1")], for: alice, at: Self.now) }.results == [.granted])
        #expect(line.isDone)
        for cut in cuts { line.cut(cut) }
        let results = Mutex<[Int: [Redemption.Result]]>([:])
        try ledger.allTogether(
            (2..<12).map { number in
                { transaction in
                    let answer = try transaction.redeem([claim("\(number)")], for: alice, at: Self.now)
                    results.withLock { $0[number] = answer.results }
                }
            })
        #expect(line.isDone)
        #expect(results.withLock { $0.values.allSatisfy { $0 == [.granted] } && $0.count == 10 })
        for cut in cuts { line.cut(cut) }
        #expect(try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 99) }.count == 11)
        #expect(try fixture.problems() == [])
    }

    /// The distance to a server is felt once for each round trip, whatever the group's size: for the facts, for the users with the endpoints
    /// of webhooks, for the changes, and for the commit.
    @Test(arguments: [false, true])
    func `a group of redemptions takes four round trips`(withEndpoint: Bool) async throws {
        let (line, address) = try schema.line()
        let ledger = try Ledger(try PostgreSQLAddress(address))
        if withEndpoint {
            let endpoint = WebhookEndpoint(
                identifier: "a", url: "https://example.com/a", createdAt: Self.now, createdBy: "K",
                secret: [UInt8](repeating: 1, count: 32))
            #expect(try await ledger.write { try $0.add(endpoint, upTo: 1) })
        }
        // The first group prepares its statements, and gives the app and the product their numbers.
        for (round, size) in [1, 1, 8, 32].enumerated() {
            let requests = try (0..<size).flatMap { number in
                let user = try #require(User(name: "user\(round)-\(number)"))
                // The one user is new, and the other is known since the first round.
                return [(user, 2 * number), (alice, 2 * number + 1)].map { user, number in
                    ClaimRequest.redeem(
                        PresentedClaims([claim("\(round)-\(number)")], for: user, accepting: [.localSandbox], by: .user)
                    )
                }
            }
            let before = line.roundTripCount
            let answers = try await ledger.write {
                try $0.decide(requests, under: .keep, accepting: AcceptedOrigins([.localSandbox]), at: Self.now)
            }
            #expect(answers.count == 2 * size)
            if round > 1 { #expect(line.roundTripCount - before == 4) }
        }
        // Each of 42 times two redemptions has a message.
        let messages = try schema.execute("SELECT count(*) FROM webhook_delivery")
        #expect(messages == [withEndpoint ? "84" : "0"])
        #expect(try fixture.problems() == [])
    }

    /// The first read finds the user by the name, and the next one by the number that it found.
    @Test(.enabled(if: TestSchema.hasSessions, "a pooler needs transactions, and Citus two statements"))
    func `a read of a user's items takes one round trip`() async throws {
        let item = Item(collection: "s", number: 99)
        _ = try await redeem(claim("1", item: item), for: alice)
        let (line, address) = try schema.line()
        let clock = ManualClock(Self.now)
        let service = EntitlementService(
            apps: Apps(App(try Catalog(folder: Project.products))),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: clock),
            ledger: try Ledger(try PostgreSQLAddress(address)), clock: clock,
            accepted: AcceptedOrigins([.localSandbox]))
        let unknown = try #require(User(name: "unknown"))
        for (user, isOwner) in [(alice, true), (alice, true), (bob, false), (unknown, false)] {
            let before = line.roundTripCount
            let items = try await service.items(of: user)
            #expect(items.contains { $0.item == item } == isOwner)
            #expect(line.roundTripCount - before == 1)
        }
    }

    /// A constraint violation undoes only the use case that caused it.
    @Test func `a use case that fails in a group fails alone`() async throws {
        try schema.execute("ALTER TABLE redeemed_transaction ADD CONSTRAINT unlucky CHECK (number <> 13)")
        let results = Mutex<[Int: Redemption.Result?]>([:])
        let errors = ledger.together(
            (10..<16).map { number in
                { transaction in
                    let claim = claim("\(number)", item: Item(collection: "s", number: number))
                    let answer = try transaction.redeem([claim], for: alice, at: Self.now)
                    results.withLock { $0[number] = answer.results.first }
                }
            })
        #expect(errors.map { $0 == nil } == [true, true, true, false, true, true])
        #expect(results.withLock { $0.filter { $0.value == .granted }.keys.sorted() } == [10, 11, 12, 14, 15])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) }.map(\.number) == [10, 11, 12, 14, 15])
        try schema.execute("ALTER TABLE redeemed_transaction DROP CONSTRAINT unlucky")
        #expect(try fixture.problems() == [])
    }

    @Test func `the ledger reconnects to a server that closes connections`() async throws {
        let (fixture, alice, schema) = (fixture, alice, schema)
        let address = schema.address + "&application_name=victim"
        let ledger = try Ledger(try PostgreSQLAddress(address))
        let claims = (1...200).map { claim("\($0)") }
        // After each commit, the other task tries to close the connection of the next one.
        let (commits, committed) = AsyncStream<Void>.makeStream()
        let ended = Atomic(0)
        let name = try #require(address.split(separator: "%3D").last?.split(separator: "&").first)
        try await atOnce(2) { role in
            if role == 0 {
                defer { committed.finish() }
                for claim in claims {
                    let answer = try await ledger.write { try $0.redeem([claim], for: alice, at: Self.now) }
                    #expect(answer.results == [.granted])
                    committed.yield()
                }
            } else {
                for await _ in commits {
                    let answers = try schema.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'
                            AND pid IN (SELECT pid FROM pg_locks JOIN pg_class ON relation = pg_class.oid
                                WHERE relnamespace = '\(name)'::regnamespace)
                        """)
                    ended.add(answers.count { $0 == "t" }, ordering: .relaxed)
                }
            }
        }
        #expect(ended.load(ordering: .relaxed) > 0)
        #expect(try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 999) }.count == 200)
        #expect(try fixture.problems() == [])
    }

    @Test func `the tables allow no second owner`() async throws {
        _ = try await redeem(claim(), for: alice)
        _ = try await redeem(claim("9"), for: bob)
        func user(_ name: String) async throws -> String {
            try #require(try schema.execute("SELECT user_id FROM \"user\" WHERE name = '\(name)'").first)
        }
        let rules = await TableRules(
            alice: try user("alice"), bob: try user("bob"), digest: "decode(repeat('00', 32), 'hex')",
            dialect: .postgreSQL)
        for statement in rules.allowed { try schema.execute(statement) }
        for statement in rules.forbidden {
            #expect(throws: (any Error).self, "\(statement)") { try schema.execute(statement) }
        }
        for statement in rules.dangling { try schema.execute(statement) }
        let problems = try fixture.problems()
        for missing in [
            "redeemed_transaction refers to a missing row of user", "credit refers to a missing row of redeemed",
        ] {
            #expect(problems.contains { $0.contains(missing) }, "\(problems)")
        }
    }

    /// The version protects the head even if the isolation of a distributed database lets two writers pass.
    @Test func `a head that another writer changed is not written`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        var runs = 0
        try ledger.writeNow { transaction in
            runs += 1
            let user = try transaction.number(of: alice, at: Self.now)
            var heads = try transaction.users.heads(of: [user])
            heads[user]?.lastGrant += 1
            if runs == 1 {
                // This write makes the version that was read outdated.
                try transaction.database.write(#"UPDATE "user" SET version = version + 1"#, [])
            }
            try transaction.users.write(heads)
        }
        #expect(runs == 2)
        #expect(try fixture.problems() == [])
    }

    @Test func `a check finds a changed audit log`() async throws {
        _ = try await redeem(claim("1"), claim("2"), for: alice)
        #expect(try fixture.problems() == [])
        try schema.execute("UPDATE audit SET subject = 'q' WHERE number = 1")
        #expect(try fixture.problems().contains { $0.contains("audit log") })
    }

    @Test func `a missing ledger is not created unless the caller allows it`() async throws {
        let schema = try TestSchema()
        let empty = try schema.ledgerAddress
        #expect { try Ledger(empty, migrates: false) } throws: {
            ($0 as? StorageFault)?.cause == .missing
        }
        #expect(try schema.execute("SELECT to_regclass('ledger_schema') IS NULL") == ["t"])
    }

    /// Services on one database notify each other's observers, and no others.
    @Test func `the observers of all services on a database are notified`() async throws {
        let told = Mutex<[String: Set<Int64>]>([:])
        func observed(_ name: String, _ fixture: LedgerFixture) throws -> Ledger {
            let ledger = try fixture.again()
            ledger.observe { users in told.withLock { $0[name, default: []].formUnion(users) } }
            return ledger
        }
        let services = [try observed("first", fixture), try observed("second", fixture)]
        let elsewhere = try observed("elsewhere", try LedgerFixture())
        let number = try await services[0].write { try $0.number(of: alice, at: Self.now) }
        // A service may begin to listen late, so the test repeats the commit.
        var transaction = 0
        try await expectEventually {
            transaction += 1
            _ = try services[0].writeNow { try $0.redeem([claim("\(transaction)")], for: alice, at: Self.now) }
            return told.withLock { $0["first"] == [number] && $0["second"] == [number] }
        }
        #expect(told.withLock { $0["elsewhere"] } == nil)
        withExtendedLifetime((services, elsewhere)) {}
    }

    @Test func `several processes open a new ledger at once`() async throws {
        let address = try PostgreSQLAddress(try TestSchema().address)
        let alice = alice
        try await atOnce(8) { _ in
            let items = try await Ledger(address).read { try $0.items(of: alice, at: Self.now) }
            #expect(items == [])
        }
    }

    @Test func `a ledger moves from a file to PostgreSQL and back`() async throws {
        let file = try Ledger(file: folder.file("ledger.sqlite"))
        for number in 1...1200 {
            let user = number.isMultiple(of: 7) ? bob : alice
            try file.writeNow {
                _ = try $0.redeem([claim("\(number)", original: "\(number / 3)")], for: user, at: Self.now)
            }
        }
        func export(_ ledger: Ledger) throws -> Data {
            var text = Data()
            _ = try ledger.export { text.append($0) }
            return text
        }
        func take(_ text: Data, into ledger: Ledger) throws {
            var rest: Data? = text
            _ = try ledger.importLines { () throws(ImportError) -> Data? in
                defer { rest = nil }
                return rest
            }
        }
        let text = try export(file)
        try take(text, into: ledger)
        #expect(try export(ledger) == text)
        #expect(try fixture.problems() == [])
        let back = try Ledger(file: folder.file("back.sqlite"))
        try take(try export(ledger), into: back)
        #expect(try export(back) == text)
        // PostgreSQL assigns large numbers to users. They fit into a file, too.
        let other = try fixture.another()
        _ = try other.writeNow { try $0.redeem([claim("1")], for: alice, at: Self.now) }
        let third = try Ledger(file: folder.file("third.sqlite"))
        try take(try export(other), into: third)
        #expect(try export(third) == export(other))
        #expect(try third.writeNow { try $0.redeem([claim("2")], for: bob, at: Self.now) }.results == [.granted])
    }
}
