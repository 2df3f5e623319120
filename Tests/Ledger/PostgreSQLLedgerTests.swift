import Commerce
import Entitlements
import Foundation
import Ledger
import Synchronization
import Testing
import TestSupport

/// What is of PostgreSQL alone: several services on one ledger, lines that are cut, and what the tables themselves forbid.
@Suite(.enabled(if: !LedgerFixture.isFile)) struct PostgreSQLLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    let schema: TestSchema

    init() throws {
        fixture = try LedgerFixture()
        schema = try #require(fixture.schema)
    }

    /// Each body on a thread of its own, since a ledger's calls wait for the server.
    private func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        Thread.detachNewThread { continuation.resume(with: Result { try body(number) }) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func manyAtOnceGrantOnce() async throws {
        let fixture = fixture
        let (claim, users) = (claim(), [alice, bob])
        let results = Mutex<[Redemption.Result]>([])
        try await atOnce(16) { number in
            let ledger = try fixture.again()
            let result = try ledger.redeem([claim], for: users[number % 2], at: Self.now).results
            results.withLock { $0 += result }
        }
        let all = results.withLock { $0 }
        #expect(all.count { $0 == .granted } == 1)
        #expect(all.count { $0 == .alreadyRedeemed } == 7)
        #expect(all.count { $0 == .ownedByAnotherUser } == 8)
        #expect(try fixture.problems() == [])
    }

    /// Two services whose groups are of the same users and the same purchases.
    @Test func groupsThatMeetEndAsIfOneHadComeAfterTheOther() async throws {
        let fixture = fixture
        let users = try (0..<8).map { try #require(User(name: "user\($0)")) }
        let claims = (0..<200).map { claim("\($0)", original: "\($0 / 2)", item: Item(collection: "s", number: $0)) }
        let refunds = claims.map { $0.transactionIdentifier }.map {
            claim($0, revoked: Self.later(1), signedAt: Self.later(1), item: Item(collection: "s", number: 1))
        }
        let granted = Mutex(0)
        try await atOnce(3) { service in
            let ledger = try fixture.again()
            for start in stride(from: 0, to: claims.count, by: 25) {
                // A group that is run again counts once.
                let counts = Mutex([Int: Int]())
                try ledger.allTogether(
                    (start..<start + 25).map { number in
                        {
                            if service == 2 {
                                guard number.isMultiple(of: 5) else { return }
                                _ = try? ledger.record(refunds[number], at: Self.now)
                            } else {
                                let answer = try? ledger.redeem(
                                    [claims[number]], for: users[number / 2 % 8], at: Self.now)
                                let count = answer?.results.count { $0 == .granted } ?? 0
                                counts.withLock { $0[number] = count }
                            }
                        }
                    })
                let sum = counts.withLock { $0.values.reduce(0, +) }
                granted.withLock { $0 += sum }
            }
        }
        var (owned, transactions) = (0, 0)
        for user in users {
            owned += try ledger.items(of: user, at: Self.now).count
            transactions += try ledger.transactions(of: user, before: nil, limit: .max).count
        }
        #expect(transactions == claims.count)
        // A refund may have come before what it refunds, and then it was granted to nobody.
        #expect(owned == claims.count - claims.count / 5)
        #expect((owned...claims.count).contains(granted.withLock { $0 }))
        #expect(try fixture.problems() == [])
    }

    @Test func nothingIsSpentTwice() async throws {
        let (fixture, alice) = (fixture, alice)
        _ = try redeem(claim(item: nil, credit: Credit(balance: "coins", amount: 10)), for: alice)
        let spent = Mutex(0)
        try await atOnce(12) { number in
            let spending = Spending(
                identifier: "s\(number)", balance: "coins", amount: 4, reason: "a hat", spentBy: "K", spentAt: Self.now)
            let answer = try fixture.again().spend(
                spending, for: alice, counting: [.localSandbox])
            if case .spent = answer { spent.withLock { $0 += 1 } }
        }
        #expect(spent.withLock { $0 } == 2)
        #expect(try ledger.balances(of: alice, counting: [.localSandbox]).map(\.amount) == [2])
        #expect(try fixture.problems() == [])
    }

    /// A commit that was done is not done again, and one that was not done is; nobody is told of either before it is known. What
    /// was done and run again would answer `alreadyRedeemed`.
    @Test(arguments: [
        [LossyLine.Cut.beforeCommit], [.afterCommit], [.afterCommit, .afterCommit], [.beforeCommit, .afterCommit],
        [.afterCommit, .beforeCommit, .afterCommit, .beforeCommit],
    ])
    func aCommitWhoseAnswerWasLostIsLookedUp(cuts: [LossyLine.Cut]) throws {
        let port = try #require(URL(string: schema.address)?.port)
        let line = try LossyLine(to: port)
        let address = schema.address.replacing(":\(port)/", with: ":\(line.port)/")
        let ledger = try Ledger(try PostgreSQLAddress(address))
        for cut in cuts { line.cut(cut) }
        #expect(try ledger.redeem([claim("1")], for: alice, at: Self.now).results == [.granted])
        #expect(line.isDone)
        for cut in cuts { line.cut(cut) }
        let results = Mutex<[Int: [Redemption.Result]]>([:])
        try ledger.allTogether(
            (2..<12).map { number in
                {
                    let answer = try? ledger.redeem([claim("\(number)")], for: alice, at: Self.now)
                    results.withLock { $0[number] = answer?.results }
                }
            })
        #expect(line.isDone)
        #expect(results.withLock { $0.values.allSatisfy { $0 == [.granted] } && $0.count == 10 })
        for cut in cuts { line.cut(cut) }
        #expect(try ledger.transactions(of: alice, before: nil, limit: 99).count == 11)
        #expect(try fixture.problems() == [])
    }

    /// What the tables refuse to one is no other's fault.
    @Test func oneThatFailsInAGroupFailsAlone() throws {
        try schema.execute("ALTER TABLE entitlement ADD CHECK (number <> 13)")
        let results = Mutex<[Int: Redemption.Result?]>([:])
        let faults = ledger.together(
            (10..<16).map { number in
                {
                    let claim = claim("\(number)", item: Item(collection: "s", number: number))
                    let answer = try? ledger.redeem([claim], for: alice, at: Self.now)
                    results.withLock { $0[number] = answer?.results.first }
                }
            })
        #expect(faults == Array(repeating: nil, count: 6))
        #expect(results.withLock { $0.filter { $0.value == .granted }.keys.sorted() } == [10, 11, 12, 14, 15])
        #expect(try ledger.items(of: alice, at: Self.now).map(\.number) == [10, 11, 12, 14, 15])
        #expect(try fixture.problems() == [])
    }

    @Test func aServerThatEndsConnectionsIsConnectedToAnew() async throws {
        let (fixture, alice, schema) = (fixture, alice, schema)
        let address = schema.address + "&application_name=victim"
        let ledger = try Ledger(try PostgreSQLAddress(address))
        let claims = (1...200).map { claim("\($0)") }
        let isDone = Atomic(false)
        let ended = Atomic(0)
        let name = try #require(address.split(separator: "%3D").last?.split(separator: "&").first)
        try await atOnce(2) { role in
            if role == 0 {
                defer { isDone.store(true, ordering: .sequentiallyConsistent) }
                for claim in claims {
                    #expect(try ledger.redeem([claim], for: alice, at: Self.now).results == [.granted])
                }
            } else {
                while !isDone.load(ordering: .sequentiallyConsistent) {
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
        #expect(try ledger.transactions(of: alice, before: nil, limit: 999).count == 200)
        #expect(try fixture.problems() == [])
    }

    @Test func theTablesThemselvesAllowNoSecondOwnerAndNoRewriting() throws {
        _ = try redeem(claim(), for: alice)
        _ = try redeem(claim("9"), for: bob)
        func user(_ name: String) throws -> String {
            try #require(try schema.execute("SELECT user_id FROM \"user\" WHERE name = '\(name)'").first)
        }
        let rules = TableRules(
            alice: try user("alice"), bob: try user("bob"), digest: "decode(repeat('00', 32), 'hex')")
        for statement in rules.allowed + ["UPDATE audit SET reason = NULL, reason_salt = NULL"] {
            try schema.execute(statement)
        }
        let forbiddenOfAudit = [
            "UPDATE audit SET subject = 'q'", "UPDATE audit SET reason = 'r'", "DELETE FROM audit", "TRUNCATE audit",
        ]
        for statement in rules.forbidden + forbiddenOfAudit {
            #expect(throws: (any Error).self, "\(statement)") { try schema.execute(statement) }
        }
    }

    @Test func aChangedAuditLogIsSeen() throws {
        _ = try redeem(claim("1"), claim("2"), for: alice)
        #expect(try fixture.problems() == [])
        try schema.execute(
            "DROP TRIGGER audit_is_not_rewritten ON audit; UPDATE audit SET subject = 'q' WHERE number = 1")
        #expect(try fixture.problems().contains { $0.contains("audit log") })
    }

    @Test func aLedgerOfAnotherVersionIsNotOpened() throws {
        let empty = try PostgreSQLAddress(try TestSchema().address)
        #expect { try Ledger(empty, takesOver: false) } throws: {
            ($0 as? StorageFault)?.cause == .missing
        }
        try schema.execute("INSERT INTO ledger_schema VALUES (99)")
        #expect { try fixture.again() } throws: { ($0 as? StorageFault)?.cause == .newerVersion }
    }

    /// Services on one database wake each other's listeners, and nobody else's.
    @Test func whoObservesIsToldByTheOthers() async throws {
        let told = Mutex<[String: Set<Int64>]>([:])
        func observed(_ name: String, _ fixture: LedgerFixture) throws -> Ledger {
            let ledger = try fixture.again()
            ledger.observe { users in told.withLock { $0[name, default: []].formUnion(users) } }
            return ledger
        }
        let services = [try observed("first", fixture), try observed("second", fixture)]
        let elsewhere = try observed("elsewhere", try LedgerFixture())
        let number = try services[0].number(of: alice, at: Self.now)
        // Whoever has not begun to listen hears the next.
        var transaction = 0
        try await expectEventually {
            transaction += 1
            _ = try services[0].redeem([claim("\(transaction)")], for: alice, at: Self.now)
            return told.withLock { $0["first"] == [number] && $0["second"] == [number] }
        }
        #expect(told.withLock { $0["elsewhere"] } == nil)
        withExtendedLifetime((services, elsewhere)) {}
    }

    @Test func aLedgerOfTheVersionBeforeBecomesOneOfThis() throws {
        _ = try redeem(claim("1"), for: alice)
        try schema.execute(
            """
            ALTER TABLE kept_answer DROP COLUMN user_id;
            ALTER TABLE spending DROP COLUMN idempotency_key, DROP COLUMN request_digest, DROP COLUMN left_after;
            DROP INDEX kept_answer_of_caller;
            DROP TABLE any_spelling, catalog_change, catalog_picture, webhook_delivery, webhook_endpoint, user_change, member, wish, chosen_item, profile, session, account;
            DELETE FROM ledger_schema WHERE version > 8
            """)
        let address = try PostgreSQLAddress(schema.address)
        #expect { try Ledger(address, takesOver: false) } throws: {
            ($0 as? StorageFault)?.cause == .olderVersion
        }
        let ledger = try fixture.again()
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try ledger.account(emailLowercase: "a@b.co") == nil)
        #expect(try schema.execute("SELECT max(version) FROM ledger_schema") == ["15"])
    }

    @Test func manyMayOpenANewLedgerAtOnce() async throws {
        let address = try PostgreSQLAddress(try TestSchema().address)
        let alice = alice
        try await atOnce(8) { _ in
            let items = try Ledger(address).items(of: alice, at: Self.now)
            #expect(items == [])
        }
    }

    @Test func aLedgerMovesFromAFileAndBack() throws {
        let file = try Ledger(file: folder.file("ledger.sqlite"))
        for number in 1...1200 {
            let user = number.isMultiple(of: 7) ? bob : alice
            _ = try file.redeem([claim("\(number)", original: "\(number / 3)")], for: user, at: Self.now)
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
        // Of users that came to PostgreSQL first, too, whose numbers are large.
        let other = try fixture.another()
        _ = try other.redeem([claim("1")], for: alice, at: Self.now)
        let third = try Ledger(file: folder.file("third.sqlite"))
        try take(try export(other), into: third)
        #expect(try export(third) == export(other))
        #expect(try third.redeem([claim("2")], for: bob, at: Self.now).results == [.granted])
    }
}
