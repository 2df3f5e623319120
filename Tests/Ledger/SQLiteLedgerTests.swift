import Commerce
import Foundation
import GRDB
import Ledger
import TestSupport
import Testing

@Suite struct SQLiteLedgerTests {
    let folder: TemporaryFolder
    let ledger: SQLiteLedger
    let alice: User
    let bob: User

    init() throws {
        folder = try TemporaryFolder()
        ledger = try SQLiteLedger(file: folder.file("ledger.sqlite"))
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    static let now = Timestamp(secondsSince1970: 1_790_000_000)
    static let sprout1 = Item(collection: "sprout", number: 1)

    private func claim(
        _ transaction: String = "1",
        original: String? = nil,
        origin: Origin = .localSandbox,
        revoked: Timestamp? = nil,
        signedAt: Timestamp = now,
        appAccountToken: UUID? = nil,
        item: Item? = sprout1
    ) -> Claim {
        Claim(
            origin: origin, transactionIdentifier: transaction, originalTransactionIdentifier: original ?? transaction,
            productIdentifier: "p", quantity: 1, purchaseDate: Self.now, revocationDate: revoked,
            signedAt: signedAt, appAccountToken: appAccountToken, proofDigest: [UInt8](repeating: 7, count: 32),
            item: item)
    }

    private func redeem(_ claims: Claim..., for user: User) throws -> [Redemption.Result] {
        try ledger.redeem(claims, for: user, at: Self.now).results
    }

    @Test func redeemingAgainGrantsNothingMore() throws {
        #expect(try redeem(claim(), for: alice) == [.granted])
        #expect(try redeem(claim(), for: alice) == [.alreadyRedeemed])
        #expect(try redeem(claim(), claim(), for: alice) == [.alreadyRedeemed, .alreadyRedeemed])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
    }

    @Test func anotherUserIsRefusedAndOwnsNothing() throws {
        #expect(try redeem(claim(), for: alice) == [.granted])
        #expect(try redeem(claim(), claim("2"), for: bob) == [.ownedByAnotherUser, .granted])
        #expect(try redeem(claim("2"), for: alice) == [.ownedByAnotherUser])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
    }

    @Test func buyingAgainForNothingGivesNoSecondOwner() throws {
        #expect(try redeem(claim("1"), for: alice) == [.granted])
        #expect(try redeem(claim("2", original: "1"), for: bob) == [.ownedByAnotherUser])
        #expect(try redeem(claim("2", original: "1"), for: alice) == [.granted])
        #expect(try ledger.items(of: bob, at: Self.now) == [])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
    }

    @Test func theSameNumberOfAnotherOriginIsAnotherTransaction() throws {
        #expect(try redeem(claim(), for: alice) == [.granted])
        #expect(try redeem(claim(origin: .appleProduction), for: bob) == [.granted])
    }

    @Test func aRevocationTakesTheItemAndStays() throws {
        #expect(
            try redeem(claim("1"), claim("2", item: Item(collection: "sprout", number: 2)), for: alice) == [
                .granted, .granted,
            ])
        #expect(try redeem(claim("1", revoked: Self.now), for: alice) == [.revoked])
        #expect(try ledger.items(of: alice, at: Self.now) == [Item(collection: "sprout", number: 2)])
        // The older proof, from before the refund, does not bring it back.
        #expect(try redeem(claim("1"), for: alice) == [.revoked])
        #expect(try redeem(claim("3", revoked: Self.now), for: alice) == [.revoked])
        #expect(try redeem(claim("3"), for: alice) == [.revoked])
        #expect(try ledger.items(of: alice, at: Self.now) == [Item(collection: "sprout", number: 2)])
    }

    @Test func anItemStandsOnEachOfItsTransactions() throws {
        #expect(try redeem(claim("1"), claim("2"), for: alice) == [.granted, .granted])
        #expect(try redeem(claim("1", revoked: Self.now), for: alice) == [.revoked])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
    }

    @Test func whatWasAnsweredIsThereAfterOpeningAgain() throws {
        _ = try redeem(claim(), for: alice)
        let again = try SQLiteLedger(file: folder.file("ledger.sqlite"))
        #expect(try again.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try again.redeem([claim()], for: alice, at: Self.now).results == [.alreadyRedeemed])
    }

    @Test func manyAtOnceGrantOnce() async throws {
        let file = folder.file("ledger.sqlite")
        let results = try await withThrowingTaskGroup(of: [Redemption.Result].self) { group in
            for number in 0..<16 {
                let user = number.isMultiple(of: 2) ? alice : bob
                let claim = claim()
                // A connection of its own for each, as separate processes have.
                group.addTask { try SQLiteLedger(file: file).redeem([claim], for: user, at: Self.now).results }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(results.count { $0 == .granted } == 1)
        #expect(results.count { $0 == .alreadyRedeemed } == 7)
        #expect(results.count { $0 == .ownedByAnotherUser } == 8)
    }

    @Test func manyMayOpenANewLedgerAtOnce() async throws {
        let file = folder.file("new.sqlite")
        let alice = alice
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { _ = try SQLiteLedger(file: file).items(of: alice, at: Self.now) }
            }
            try await group.waitForAll()
        }
    }

    @Test func aTransactionUnderAnotherOriginalPurchaseHasTheSameOwner() throws {
        #expect(try redeem(claim("1"), for: alice) == [.granted])
        let strange = claim("1", original: "9", revoked: Self.now, signedAt: Self.later(1))
        #expect(try redeem(strange, for: bob) == [.ownedByAnotherUser])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try notify("1", strange) == .revoked)
        #expect(try ledger.items(of: alice, at: Self.now) == [])
    }

    @Test func oneNameInTwoSpellingsIsOneUser() throws {
        let composed = try #require(User(name: "caf\u{e9}"))
        let decomposed = try #require(User(name: "cafe\u{301}"))
        #expect(try redeem(claim(), for: composed) == [.granted])
        #expect(try redeem(claim(), claim("2", original: "1"), for: decomposed) == [.alreadyRedeemed, .granted])
        #expect(try ledger.items(of: decomposed, at: Self.now) == [Self.sprout1])
    }

    @Test func recordsAreSmallEnoughToBeReturned() {
        #expect(MemoryLayout<Grant>.size <= 128)
        #expect(MemoryLayout<RedeemedTransaction>.size <= 128)
    }

    @Test func theTablesThemselvesAllowNoSecondOwner() throws {
        _ = try redeem(claim(), for: alice)
        _ = try redeem(claim("9"), for: bob)
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path)
        func execute(_ sql: String) throws {
            try database.write { try $0.execute(sql: sql) }
        }
        let (alice, bob) = (1, 2)
        let redeemed = "INSERT INTO redeemed_transaction VALUES (NULL, 'local/Sandbox',"
        let rest = "'p', 1, 0, NULL, NULL, 0, 0, zeroblob(32))"
        // What is allowed, so that none of the others fails by its form.
        try execute("INSERT INTO original_transaction VALUES ('local/Sandbox', '3', \(bob))")
        try execute("\(redeemed) '3', '3', \(bob), \(rest)")
        try execute("INSERT INTO entitlement VALUES (\(bob), 'sprout', 3, 'local/Sandbox', '3', 0)")
        for statement in [
            "INSERT INTO original_transaction VALUES ('local/Sandbox', '1', \(bob))",
            "INSERT INTO original_transaction VALUES ('local/Sandbox', '4', 99)",
            "\(redeemed) '2', '1', \(bob), \(rest)",
            "\(redeemed) '1', '1', \(alice), \(rest)",
            "INSERT INTO entitlement VALUES (\(bob), 'sprout', 1, 'local/Sandbox', '1', 0)",
            "INSERT INTO entitlement VALUES (\(alice), 'sprout', 9, 'local/Sandbox', 'none', 0)",
            "INSERT INTO entitlement VALUES (\(alice), 'sprout', 1, 'local/Sandbox', '1', 0)",
        ] {
            #expect(throws: DatabaseError.self, "\(statement)") { try execute(statement) }
        }
    }

    @Test func theFilesAreTheirOwnersAlone() throws {
        _ = try redeem(claim(), for: alice)
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func aLedgerOfANewerVersionIsNotOpened() throws {
        let file = folder.file("newer.sqlite")
        _ = try SQLiteLedger(file: file)
        try DatabaseQueue(path: file.path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from the future')")
        }
        #expect(throws: StorageFault(cause: .newerVersion, path: file.path)) { try SQLiteLedger(file: file) }
    }

    @Test func whatIsNoDatabaseIsToldSo() throws {
        let file = folder.file("damaged.sqlite")
        try Data(repeating: 0x55, count: 4096).write(to: file)
        #expect(throws: StorageFault(cause: .damaged, path: file.path)) { try SQLiteLedger(file: file) }
        let nowhere = folder.file("none/ledger.sqlite")
        #expect(throws: StorageFault(cause: .cannotOpen, path: nowhere.path)) { try SQLiteLedger(file: nowhere) }
    }

    @Test func aLedgerOfTheFirstVersionIsTakenOver() throws {
        let file = folder.file("first.sqlite")
        try DatabaseQueue(path: file.path).write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('1: redeemed transactions and their entitlements');
                    CREATE TABLE original_transaction (
                        origin TEXT NOT NULL, original_transaction_id TEXT NOT NULL, user TEXT NOT NULL,
                        PRIMARY KEY (origin, original_transaction_id),
                        UNIQUE (origin, original_transaction_id, user)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE redeemed_transaction (
                        origin TEXT NOT NULL, transaction_id TEXT NOT NULL, original_transaction_id TEXT NOT NULL,
                        user TEXT NOT NULL, product_id TEXT NOT NULL, quantity INTEGER NOT NULL,
                        purchase_date INTEGER NOT NULL, revocation_date INTEGER, redeemed_at INTEGER NOT NULL,
                        proof_digest BLOB NOT NULL,
                        PRIMARY KEY (origin, transaction_id), UNIQUE (origin, transaction_id, user),
                        FOREIGN KEY (origin, original_transaction_id, user)
                            REFERENCES original_transaction (origin, original_transaction_id, user)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE entitlement (
                        user TEXT NOT NULL, collection TEXT NOT NULL, number INTEGER NOT NULL, origin TEXT NOT NULL,
                        transaction_id TEXT NOT NULL, granted_at INTEGER NOT NULL,
                        PRIMARY KEY (user, collection, number, origin, transaction_id),
                        UNIQUE (origin, transaction_id, collection, number),
                        FOREIGN KEY (origin, transaction_id, user)
                            REFERENCES redeemed_transaction (origin, transaction_id, user)
                    ) STRICT, WITHOUT ROWID;
                    INSERT INTO original_transaction VALUES ('local/Sandbox', '1', 'alice'), ('local/Sandbox', '2', 'bob'),
                        ('local/Sandbox', '4', 'no name today');
                    INSERT INTO redeemed_transaction VALUES
                        ('local/Sandbox', '1', '1', 'alice', 'p', 1, 5, NULL, 10, zeroblob(32)),
                        ('local/Sandbox', '3', '1', 'alice', 'p', 1, 5, NULL, 30, zeroblob(32)),
                        ('local/Sandbox', '2', '2', 'bob', 'p', 1, 5, 6, 20, zeroblob(32));
                    INSERT INTO entitlement VALUES
                        ('alice', 'sprout', 1, 'local/Sandbox', '1', 10), ('bob', 'sprout', 1, 'local/Sandbox', '2', 20);
                    """)
        }
        let ledger = try SQLiteLedger(file: file)
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try ledger.items(of: bob, at: Self.now) == [])
        let transactions = try ledger.transactions(of: alice, before: nil, limit: 10)
        #expect(transactions.map(\.transactionIdentifier) == ["3", "1"])
        #expect(transactions.map(\.redeemedAt.millisecondsSince1970) == [30, 10])
        let token = try ledger.appAccountToken(of: alice, at: Self.now)
        #expect(try ledger.appAccountToken(of: bob, at: Self.now) != token)
        #expect(try ledger.redeem([claim("1")], for: bob, at: Self.now).results == [.ownedByAnotherUser])
        #expect(try ledger.redeem([claim("4")], for: bob, at: Self.now).results == [.ownedByAnotherUser])
        #expect(try SQLiteLedger(file: file).appAccountToken(of: alice, at: Self.now) == token)
    }

    @Test func oneNameFromTwoIssuersIsTwoUsers() throws {
        let stranger = try #require(User(issuer: "https://issuer.example", name: "alice"))
        #expect(try redeem(claim(), for: alice) == [.granted])
        #expect(try redeem(claim(), for: stranger) == [.ownedByAnotherUser])
        #expect(try ledger.items(of: stranger, at: Self.now) == [])
    }

    @Test func anAccountTokenIsMadeOnceAndSetOnlyBefore() throws {
        let token = UUID()
        #expect(try ledger.setAppAccountToken(token, of: alice, at: Self.now) == .set)
        #expect(try ledger.setAppAccountToken(token, of: alice, at: Self.now) == .set)
        #expect(try ledger.appAccountToken(of: alice, at: Self.now) == token)
        #expect(try ledger.setAppAccountToken(UUID(), of: alice, at: Self.now) == .hasAnother(token))
        #expect(try ledger.setAppAccountToken(token, of: bob, at: Self.now) == .ofAnotherUser)
        let made = try ledger.appAccountToken(of: bob, at: Self.now)
        #expect(try ledger.appAccountToken(of: bob, at: Self.now) == made)
        #expect(made.uuid.6 & 0xF0 == 0x40)
    }

    @Test func anotherUsersAccountTokenIsRefused() throws {
        let token = try ledger.appAccountToken(of: alice, at: Self.now)
        #expect(try redeem(claim(appAccountToken: token), for: bob) == [.appAccountTokenMismatch])
        #expect(try ledger.items(of: bob, at: Self.now) == [])
        #expect(try redeem(claim(appAccountToken: token), for: alice) == [.granted])
        // One that is nobody's here says nothing of whose it is.
        #expect(try redeem(claim("2", appAccountToken: UUID()), for: bob) == [.granted])
    }

    @Test func transactionsComeInPagesThatNothingShifts() throws {
        for number in 1...5 { _ = try redeem(claim("\(number)"), for: alice) }
        let first = try ledger.transactions(of: alice, before: nil, limit: 2)
        #expect(first.map(\.transactionIdentifier) == ["5", "4"])
        _ = try redeem(claim("6"), for: alice)
        let second = try ledger.transactions(of: alice, before: first.last?.sequence, limit: 2)
        #expect(second.map(\.transactionIdentifier) == ["3", "2"])
        #expect(try ledger.transactions(of: bob, before: nil, limit: 2).isEmpty)
    }

    @Test func keysAreKeptAndEnded() throws {
        let key = APIKeyRecord(
            identifier: "a", name: "back end", scopes: ["read", "redeem"],
            secretDigest: [UInt8](repeating: 1, count: 32), createdAt: Self.now)
        try ledger.add(key)
        #expect(try ledger.apiKeys() == [key])
        #expect(try ledger.apiKey("b") == nil)
        #expect(try ledger.revokeAPIKey("b", at: Self.now) == false)
        let later = Timestamp(secondsSince1970: 1_790_000_100)
        #expect(try ledger.revokeAPIKey("a", at: Self.now))
        #expect(try ledger.revokeAPIKey("a", at: later))
        #expect(try ledger.apiKey("a")?.revokedAt == Self.now)
    }

    @Test func theFirstAnswerIsKept() throws {
        func answer(_ number: UInt8) -> KeptAnswer {
            KeptAnswer(
                requestDigest: [UInt8](repeating: number, count: 32), status: 200, contentType: "t", body: [number])
        }
        let key = IdempotencyKey(caller: "a", key: "k")
        #expect(try ledger.keep(answer(1), for: key, at: Self.now, forgettingBefore: Self.later(-10)) == answer(1))
        #expect(
            try ledger.keep(answer(2), for: key, at: Self.later(1), forgettingBefore: Self.later(-9)) == answer(1))
        #expect(try ledger.keptAnswer(for: key, since: Self.now) == answer(1))
        #expect(try ledger.keptAnswer(for: key, since: Self.later(1)) == nil)
        #expect(try ledger.keptAnswer(for: IdempotencyKey(caller: "b", key: "k"), since: Self.now) == nil)
        // When it is old enough to be forgotten, the next one counts.
        #expect(try ledger.keep(answer(3), for: key, at: Self.later(9), forgettingBefore: Self.later(1)) == answer(3))
    }

    private func notify(
        _ uuid: String,
        _ claim: Claim?,
        to ledger: SQLiteLedger? = nil
    ) throws -> NotificationOutcome {
        let record = NotificationRecord(
            origin: .localSandbox, notificationUUID: uuid, type: "REFUND", subtype: nil,
            signedAt: claim?.signedAt ?? Self.now, proofDigest: [UInt8](repeating: 8, count: 32))
        return try (ledger ?? self.ledger).record(record, stating: claim, at: Self.now)
    }

    private static func later(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: now.secondsSince1970 + seconds)
    }

    @Test func aRefundTakesAndItsReversalGivesBack() throws {
        _ = try redeem(claim(), for: alice)
        let refunded = claim(revoked: Self.now, signedAt: Self.later(10))
        #expect(try notify("1", refunded) == .revoked)
        #expect(try ledger.items(of: alice, at: Self.now) == [])
        #expect(try notify("1", refunded) == .duplicate)
        #expect(try notify("2", refunded) == .recorded)
        // What was signed before changes nothing, whoever hands it in.
        #expect(try redeem(claim(), for: alice) == [.revoked])
        #expect(try notify("3", claim(signedAt: Self.later(5))) == .recorded)
        #expect(try ledger.items(of: alice, at: Self.now) == [])
        #expect(try notify("4", claim(signedAt: Self.later(20))) == .granted)
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try notify("5", nil) == .recorded)
    }

    @Test func aNotificationReachesWhomItNames() throws {
        let token = try ledger.appAccountToken(of: alice, at: Self.now)
        #expect(try notify("1", claim(appAccountToken: token)) == .granted)
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try redeem(claim(), for: alice) == [.alreadyRedeemed])
        #expect(try redeem(claim(), for: bob) == [.ownedByAnotherUser])
        // An owner stays one, whomever a token names.
        _ = try redeem(claim("2"), for: bob)
        #expect(
            try notify("2", claim("2", revoked: Self.now, signedAt: Self.later(1), appAccountToken: token)) == .revoked)
        #expect(try ledger.items(of: bob, at: Self.now) == [])
    }

    @Test func whatNobodyHasClaimedWaits() throws {
        #expect(try notify("1", claim(revoked: Self.now, signedAt: Self.later(10))) == .parked)
        #expect(try notify("2", claim(signedAt: Self.later(5))) == .parked)
        #expect(try redeem(claim(), for: alice) == [.revoked])
        #expect(try ledger.items(of: alice, at: Self.now) == [])
        #expect(try notify("3", claim(signedAt: Self.later(20))) == .granted)
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        // A product the catalog does not know cannot be granted, but its refund is not forgotten.
        let token = try ledger.appAccountToken(of: bob, at: Self.now)
        #expect(
            try notify("4", claim("2", revoked: Self.now, signedAt: Self.later(1), appAccountToken: token, item: nil))
                == .parked)
        #expect(try redeem(claim("2"), for: bob) == [.revoked])
    }

    /// A purchase, its refund and the refund's reversal, posted by the app and notified by the store.
    @Test func theOrderOfStatementsDoesNotMatter() throws {
        let statements = [claim(), claim(revoked: Self.now, signedAt: Self.later(10)), claim(signedAt: Self.later(20))]
        let last = [[0], [0, 1], [0, 1, 2]]
        for known in last {
            var expected: [Item]?
            for order in Self.permutations(known + known) {
                let ledger = try SQLiteLedger(file: folder.file("\(UUID().uuidString).sqlite"))
                for (index, number) in order.enumerated() {
                    // Every second statement comes from the store.
                    if index.isMultiple(of: 2) {
                        _ = try ledger.redeem([statements[number]], for: alice, at: Self.now)
                    } else {
                        _ = try notify("\(number)", statements[number], to: ledger)
                    }
                }
                let items = try ledger.items(of: alice, at: Self.now)
                #expect(items == expected ?? items, "\(order)")
                expected = items
            }
            #expect(expected == (known.count == 2 ? [] : [Self.sprout1]))
        }
    }

    /// Each order once.
    private static func permutations(_ elements: [Int]) -> Set<[Int]> {
        guard let first = elements.first else { return [[]] }
        return Set(
            permutations(Array(elements.dropFirst())).flatMap { rest in
                (0...rest.count).map { Array(rest.prefix($0)) + [first] + rest.dropFirst($0) }
            })
    }
}
