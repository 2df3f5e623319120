import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

extension EntitlementService {
    /// The service of the garden over a ledger. It trusts no proof.
    static func ofGarden(over ledger: Ledger, clock: any WallClock) throws -> EntitlementService {
        EntitlementService(
            apps: Apps(App(try TestGarden(isInMemory: true).catalog)),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: SystemClock()), ledger: ledger, clock: clock)
    }
}

/// A ledger for one test, and two users. The ledger is in a SQLite file, or in PostgreSQL if there is a server for tests. The
/// same tests run with both.
struct LedgerFixture {
    /// True if the ledger is in a file.
    static let isFile = TestSchema.server == nil

    let folder: TemporaryFolder
    let ledger: Ledger
    let alice: User
    let bob: User
    /// The schema of the ledger; nil for a ledger in a file.
    let schema: TestSchema?

    init() throws {
        folder = try TemporaryFolder()
        schema = Self.isFile ? nil : try TestSchema()
        ledger =
            if let schema {
                try Self.ledger(in: schema)
            } else {
                try Ledger(file: folder.file("ledger.sqlite"))
            }
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    private static func ledger(in schema: TestSchema) throws -> Ledger {
        let ledger = try Ledger(try schema.ledgerAddress)
        if TestSchema.isDistributed { _ = try ledger.distribute() }
        return ledger
    }

    /// An empty ledger.
    func another() throws -> Ledger {
        guard Self.isFile else { return try Self.ledger(in: TestSchema()) }
        return try Ledger(file: folder.file("\(UUID().uuidString).sqlite"))
    }

    /// The same ledger, opened a second time as by another process.
    func again() throws -> Ledger {
        guard let schema else { return try Ledger(file: folder.file("ledger.sqlite")) }
        return try Ledger(try schema.ledgerAddress)
    }

    /// Opens the ledger in a file during `body`. Another file can replace it afterwards.
    static func withLedger<Value>(at file: URL, _ body: (Ledger) async throws -> Value) async throws -> Value {
        let value = try await body(Ledger(file: file))
        // The threads of its commits and reads release it after their answers.
        await expectEventually { isFree(file) }
        return value
    }

    /// Returns true if no process has the lock of a ledger.
    private static func isFree(_ file: URL) -> Bool {
        let lock = open(file.deletingPathExtension().appendingPathExtension("lock").path, O_RDONLY | O_CLOEXEC)
        defer {
            flock(lock, LOCK_UN)
            close(lock)
        }
        return flock(lock, LOCK_EX | LOCK_NB) == 0
    }

    /// A sentence for each broken rule of the ledger.
    // The optimizer of Swift 6.3.1 crashes if it inlines this into an async function.
    @inline(never)
    func problems() throws -> [String] {
        guard Self.isFile else { return try ledger.check().problems }
        return try LedgerFile(folder.file("ledger.sqlite")).check().problems
    }
}

/// A test suite with a ledger, and the shared functions of such suites.
protocol LedgerSuite {
    var fixture: LedgerFixture { get }
}

extension LedgerSuite {
    static var now: Timestamp { Timestamp(secondsSince1970: 1_790_000_000) }
    static var sprout1: Item { Item(collection: "sprout", number: 1) }

    static func later(_ seconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: now.millisecondsSince1970 + seconds * 1000)
    }

    var folder: TemporaryFolder { fixture.folder }
    var ledger: Ledger { fixture.ledger }
    var alice: User { fixture.alice }
    var bob: User { fixture.bob }

    func claim(
        _ transaction: String = "1",
        original: String? = nil,
        origin: Origin = .localSandbox,
        product: String = "p",
        bought: Timestamp = now,
        revoked: Timestamp? = nil,
        repeatsOriginal: Bool = false,
        signedAt: Timestamp = now,
        appAccountToken: UUID? = nil,
        item: Item? = sprout1,
        credit: Credit? = nil,
        expiresAt: Timestamp? = nil,
        period: SubscriptionPeriod? = nil,
        grace: Claim.Grace? = nil,
        facts: TransactionFacts? = nil,
        renewal: StatedRenewal? = nil
    ) -> Claim {
        Claim(
            app: "com.example.app", origin: origin, transactionIdentifier: transaction,
            originalTransactionIdentifier: original ?? transaction,
            productIdentifier: product, quantity: 1, purchaseDate: bought, revocationDate: revoked,
            repeatsOriginal: repeatsOriginal, signedAt: signedAt, appAccountToken: appAccountToken,
            proofDigest: [UInt8](repeating: 7, count: 32), item: item, credit: credit, expiresAt: expiresAt,
            period: period, grace: grace, facts: facts, renewal: renewal)
    }

    func redeem(
        _ claims: Claim...,
        for user: User,
        under policy: OwnershipPolicy = .keep,
        at moment: Timestamp = now
    ) async throws -> [Redemption.Result] {
        try await ledger.write { try $0.redeem(claims, for: user, under: policy, at: moment) }.results
    }

    /// The entries of a user's audit log, as texts.
    func story(of user: User) async throws -> [String] {
        try await ledger.read { try $0.audit(of: user) }.map { record in
            let entry = record.entry
            let words = [entry.actor.description, entry.event.rawValue, entry.reference, entry.subject, entry.reason]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }

    func notify(
        _ uuid: String,
        _ claim: Claim?,
        to ledger: Ledger? = nil
    ) async throws -> NotificationOutcome {
        let record = NotificationRecord(
            app: "com.example.app", origin: .localSandbox, notificationUUID: uuid, type: "REFUND", subtype: nil,
            signedAt: claim?.signedAt ?? Self.now, proofDigest: [UInt8](repeating: 8, count: 32))
        let moment = Self.now
        return try await (ledger ?? self.ledger).write { try $0.record(record, stating: claim, at: moment) }
    }
}
