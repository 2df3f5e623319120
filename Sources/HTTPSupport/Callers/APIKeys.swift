import Ledger
import Logging
import Proofs
import Synchronization
import Vocabulary

/// The record of a caller's API key. It has no secret.
package struct APIKeyRecord: Hashable, Sendable {
    /// The beginning of the key, by which people and logs name it. A public key is its own identifier.
    package let identifier: String
    /// The name that its maker gave it.
    package let name: String
    /// The scopes, in words of the service's, with a space between two.
    private let scopeNames: String
    /// The bundle identifier of the only app that it is for; nil for all apps.
    package let app: String?
    /// The platform of an app's public key; nil for the secret key of a back end.
    package let platform: String?
    /// The name of the person who holds the key, at the console that of the member; nil for a machine, or if it is not known.
    package let person: String?
    /// The SHA-256 of the secret; for a public key, of the key.
    let secretDigest: [UInt8]
    package let createdAt: Timestamp
    /// The time from which the service refuses the key; nil if it does not expire.
    package let expiresAt: Timestamp?
    /// The time of the last recorded use, at most about an hour old; nil before the first.
    package let lastUsedAt: Timestamp?
    /// The time of its revocation; nil if it was not revoked.
    package let revokedAt: Timestamp?

    /// The scopes, in words of the service's.
    package var scopes: [String] { scopeNames.split(separator: " ").map(String.init) }

    /// True if the service accepts the key at a moment.
    package func isValid(at moment: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { moment < $0 } ?? true
    }
}

extension APIKeyRecord {
    /// The columns of `api_key`, for statements.
    static let columns = """
        key_id, name, scopes, app, platform, person, secret_digest, created_at, expires_at, last_used_at, revoked_at
        """

    init(_ row: inout ResultRow) throws(ColumnMismatch) {
        self.init(
            identifier: try row.next(), name: try row.next(),
            scopeNames: try row.next(), app: try row.next(), platform: try row.next(), person: try row.next(),
            secretDigest: try row.next(),
            createdAt: try row.next(), expiresAt: try row.next(), lastUsedAt: try row.next(),
            revokedAt: try row.next())
    }

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] {
        [
            identifier, name, scopeNames, app, platform, person, secretDigest, createdAt,
            expiresAt, lastUsedAt, revokedAt,
        ]
    }

    /// A new key, which is not stored yet.
    package init(
        identifier: String,
        name: String,
        scopes: [String],
        app: String? = nil,
        platform: String? = nil,
        person: String? = nil,
        key: String,
        createdAt: Timestamp,
        expiresAt: Timestamp? = nil
    ) {
        self.init(
            identifier: identifier, name: name, scopeNames: scopes.joined(separator: " "), app: app,
            platform: platform, person: person, secretDigest: DigestAlgorithm.sha256.digest(of: key.utf8),
            createdAt: createdAt, expiresAt: expiresAt, lastUsedAt: nil, revokedAt: nil)
    }

    /// True if a key is this one. The comparison takes the same time for every wrong key.
    package func isRecord(of key: String) -> Bool {
        var digest = SHA256State()
        digest.update(key)
        return digest.isEqual(to: secretDigest)
    }

    /// The known scopes.
    fileprivate func scopes(in sets: ScopeSets) -> Set<APIKeyScope> { sets[scopeNames] }
}

package enum APIKeyScope: String, Sendable, CaseIterable {
    case read, redeem, grant, support, stores, spend, export, erase, catalog, webhooks, figures, metrics

    /// The scopes that a selling back end needs. Other scopes must be requested.
    package static let standard: Set<APIKeyScope> = [.read, .redeem]

    /// The permission as a verb phrase, such as "erase users". The help of `till keys make` has it.
    package var summary: String {
        switch self {
        case .read: "read the catalog, items and transactions"
        case .redeem: "redeem proofs and set account tokens"
        case .grant: "grant and revoke items, add to balances, and revoke, reinstate, assign and move purchases"
        // Explanations name other owners of a refused purchase.
        case .support: "read histories, explanations and unclaimed purchases"
        // The money of refunds.
        case .stores: "ask stores to refund, cancel and extend"
        case .spend: "spend consumables"
        // The data of users include addresses and phone numbers.
        case .export: "read and export all data of users"
        case .erase: "erase users"
        case .catalog: "create, edit and withdraw products"
        case .webhooks: "manage webhooks and read their secrets"
        case .figures: "read sums of sales"
        case .metrics: "read metrics"
        }
    }
}

/// The API keys of a team's back ends and the public keys of its apps: made, listed, revoked, and recognised when one is
/// presented.
///
/// A back end's key reads `till_IDENTIFIER_SECRET`: the identifier finds its record and may be seen by anybody, the secret is
/// 256 random bits, shown once, of which only a SHA-256 is kept. A public key such as `appl_…` is its own identifier.
package struct APIKeys: Sendable {
    /// The longest name, in bytes of UTF-8.
    package static let maximumNameLength = 64
    /// The rule for names, as the end of a sentence.
    package static let nameRule = "1 to \(maximumNameLength) bytes, without control characters"

    /// True if a key may have the name.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count <= maximumNameLength && User(name: text.replacing(" ", with: "_")) != nil
    }

    /// The prefix of every secret key. No token has it.
    private static let prefix = "till_"
    /// The length of a key from which it is refused unread, in bytes of UTF-8.
    private static let excessiveLength = 128

    let ledger: Ledger
    let clock: any WallClock
    let randomness: Randomness
    private let uses = APIKeyUses()
    private let scopeSets = ScopeSets()
    private let known = KnownAPIKeys()
    private let remembered = RememberedAPIKeys()

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app that the key is for; nil for all apps.
    ///   - expiresAt: The time from which the key is refused; nil if it does not expire.
    ///   - person: The name of the person who holds the key; nil for a machine.
    /// - Returns: The record, and the key itself, which cannot be read again.
    package func make(
        name: String, scopes: Set<APIKeyScope>, app: String? = nil, expiresAt: Timestamp? = nil, person: String? = nil
    ) async throws -> (record: APIKeyRecord, key: String) {
        let identifier = randomness.bytes(6).hexadecimal
        let key = Self.prefix + identifier + "_" + Base64.encode(randomness.bytes(32), .urlSafe)
        let record = APIKeyRecord(
            identifier: identifier, name: name,
            scopes: APIKeyScope.allCases.filter(scopes.contains).map(\.rawValue), app: app, person: person,
            key: key, createdAt: clock.now(), expiresAt: expiresAt)
        try await ledger.write { try $0.add(record) }
        return (record, key)
    }

    /// Makes the public key of an app on a platform. It has no secret and does not expire: installed apps get no other key.
    ///
    /// - Parameter app: The bundle identifier.
    /// - Throws: `PublicKeyError` if the app has a valid one.
    package func makePublic(name: String, app: String, platform: AppPlatform) async throws -> APIKeyRecord {
        let key = platform.keyPrefix + randomness.bytes(16).hexadecimal
        let record = APIKeyRecord(
            identifier: key, name: name, scopes: [], app: app, platform: platform.rawValue,
            key: key, createdAt: clock.now())
        try await ledger.write { transaction in
            let existing = try transaction.apiKeys().first {
                $0.revokedAt == nil && $0.platform == platform.rawValue && $0.app?.hasSameBytes(as: app) == true
            }
            if let existing { throw PublicKeyError.exists(key: existing.identifier, app: app, platform: platform) }
            try transaction.add(record)
        }
        return record
    }

    package func list() async throws -> [APIKeyRecord] {
        try await ledger.read { try $0.apiKeys() }
    }

    /// The keys of back ends that the service accepts now.
    package func validKeys() async throws -> [APIKeyRecord] {
        let now = clock.now()
        return try await list().filter { $0.platform == nil && $0.isValid(at: now) }
    }

    /// - Returns: False if there is no key with this identifier.
    package func revoke(_ identifier: String) async throws -> Bool {
        try await ledger.write { try $0.revokeAPIKey(identifier, at: clock.now()) }
    }

    /// Writes the last uses of keys to the ledger, in one commit for all keys.
    package func recordUses() async throws {
        let uses = uses.drain()
        guard !uses.isEmpty else { return }
        do {
            try await ledger.write { transaction in
                for (identifier, moment) in uses { try transaction.recordUse(ofAPIKey: identifier, at: moment) }
            }
        } catch {
            self.uses.putBack(uses)
            throw error
        }
    }

    /// True if a credential has the form of a key. No token has it.
    static func isKey(_ credential: String) -> Bool {
        credential.hasPrefix(prefix) || AppPlatform(prefixOf: credential) != nil
    }

    /// True if a credential has the form of an app's public key.
    package static func isPublicKey(_ credential: String) -> Bool {
        credential.utf8.count < excessiveLength && AppPlatform(prefixOf: credential) != nil
    }

    /// The caller that presents a key. The time of the use stays in memory until `recordUses`.
    ///
    /// - Returns: Nil for a key that is unknown, wrong or revoked.
    /// - Throws: `Problem` for a key that has expired; `StorageFault`.
    package func caller(presenting key: String) async throws -> Caller? {
        guard key.utf8.count < Self.excessiveLength else { return nil }
        if let platform = AppPlatform(prefixOf: key) { return try await app(presenting: key, on: platform) }
        guard let identifier = Self.identifier(ofSecretKey: key), let record = try await record(identifier) else {
            return nil
        }
        return try backEnd(presenting: key, of: record)
    }

    /// The caller that presents a key for metrics, also while the ledger is away: the metrics must say so then.
    ///
    /// A key that the ledger has confirmed in the last day stands for itself meanwhile, without a look at its revocation.
    ///
    /// - Throws: `Problem` for a key that has expired; `StorageFault` for a key that is not remembered.
    func callerOfMetrics(presenting key: String) async throws -> Caller? {
        guard key.utf8.count < Self.excessiveLength, let identifier = Self.identifier(ofSecretKey: key) else {
            return try await caller(presenting: key)
        }
        let fault: any Error
        do {
            let answer = try await BlockingWork.run(waitingUpTo: RememberedAPIKeys.patience) {
                RememberedAPIKeys.Answer(record: try await record(identifier))
            }
            if let answer {
                remembered.keep(answer, of: identifier, at: clock.now())
                return try answer.record.flatMap { try backEnd(presenting: key, of: $0) }
            }
            fault = Problem.tooBusy
        } catch let error as StorageFault {
            fault = error
        }
        guard let record = remembered.record(identifier, at: clock.now()) else { throw fault }
        return try backEnd(presenting: key, of: record)
    }

    /// The identifier in the key of a back end; nil for another credential.
    private static func identifier(ofSecretKey key: String) -> String? {
        key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count).prefix { $0 != "_" }) : nil
    }

    /// - Returns: Nil for a key that is wrong or revoked.
    private func backEnd(presenting key: String, of record: APIKeyRecord) throws(Problem) -> Caller? {
        guard record.revokedAt == nil, record.platform == nil, record.isRecord(of: key) else { return nil }
        let now = clock.now()
        if let expiresAt = record.expiresAt, now >= expiresAt { throw Problem.keyExpired(record.name, at: expiresAt) }
        uses.record(record, at: now)
        return .backEnd(key: record.identifier, scopes: record.scopes(in: scopeSets), app: record.app)
    }

    /// The app that presents a public key; nil if the key is unknown or revoked.
    private func app(presenting key: String, on platform: AppPlatform) async throws -> Caller? {
        guard let record = try await record(key), record.revokedAt == nil, record.platform == platform.rawValue,
            let app = record.app, record.isRecord(of: key)
        else { return nil }
        uses.record(record, at: clock.now())
        return .publicApp(key: record.identifier, app: app)
    }

    /// The record of an identifier; nil for an unknown one. A file is read each time, and a database server once a second.
    private func record(_ identifier: String) async throws -> APIKeyRecord? {
        let isOnServer = ledger.storage.dialect == .postgreSQL
        if isOnServer, let record = known[identifier] { return record }
        // Before the read, so that a revocation is never missed for longer.
        let readAt = ContinuousClock.now
        let record = try await ledger.read(.statement) { try $0.apiKey(identifier) }
        if isOnServer, let record { known.keep(record, readAt: readAt) }
        return record
    }
}

/// The statements about API keys.
extension LedgerTransaction {
    package func add(_ key: APIKeyRecord) throws {
        _ = try database.execute(
            """
            INSERT INTO api_key (\(APIKeyRecord.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            key.sqlValues)
    }

    /// All API keys, revoked ones included, oldest first.
    package func apiKeys() throws -> [APIKeyRecord] {
        try database.rows("SELECT \(APIKeyRecord.columns) FROM api_key ORDER BY created_at, key_id") {
            try APIKeyRecord(&$0)
        }
    }

    package func apiKey(_ identifier: String) throws -> APIKeyRecord? {
        try database.row("SELECT \(APIKeyRecord.columns) FROM api_key WHERE key_id = $1", [identifier]) {
            try APIKeyRecord(&$0)
        }
    }

    /// The names of all API keys by their identifiers, those of revoked keys included.
    package func apiKeyNames() throws -> [String: String] {
        try database.dictionary("SELECT key_id, name FROM api_key") { (try $0.next(), try $0.next()) }
    }

    /// Records the last use of a key, unless a later one is recorded.
    package func recordUse(ofAPIKey identifier: String, at moment: Timestamp) throws {
        _ = try database.execute(
            "UPDATE api_key SET last_used_at = $1 WHERE key_id = $2 AND coalesce(last_used_at, 0) < $3",
            [moment, identifier, moment])
    }

    /// Revokes a key. A key that was revoked before stays as it is.
    ///
    /// - Returns: False if there is no such key.
    package func revokeAPIKey(_ identifier: String, at moment: Timestamp) throws -> Bool {
        try database.execute(
            "UPDATE api_key SET revoked_at = coalesce(revoked_at, $1) WHERE key_id = $2", [moment, identifier]) == 1
    }
}

extension Ledger {
    package func apiKeys(clock: any WallClock, randomness: Randomness = .system) -> APIKeys {
        APIKeys(ledger: self, clock: clock, randomness: randomness)
    }

    /// The names of all API keys by their identifiers, those of revoked keys included.
    package func apiKeyNames() async throws -> [String: String] {
        try await read(.statement) { try $0.apiKeyNames() }
    }
}

extension Problem {
    fileprivate static func keyExpired(_ name: String, at moment: Timestamp) -> Problem {
        Problem(
            status: .unauthorized, code: "keyInvalid",
            detail: "The API key \"\(name)\" expired on \(moment.rfc3339). Make a new one with `till keys make`.")
    }
}

/// The last uses of API keys that are not in the ledger yet.
///
/// Only keys of the ledger are noted, so callers cannot make it grow.
final class APIKeyUses: Sendable {
    /// The shortest time between two records of a key's use.
    private static let interval: Int64 = 60 * 60

    private let waiting = Mutex<[String: Timestamp]>([:])

    /// Records a use, unless the ledger has one of the last hour.
    func record(_ key: APIKeyRecord, at moment: Timestamp) {
        if let last = key.lastUsedAt, moment < last.adding(seconds: Self.interval) { return }
        waiting.withLock { $0[key.identifier] = moment }
    }

    /// Records uses again that could not be written. Later ones stay.
    func putBack(_ uses: [String: Timestamp]) {
        waiting.withLock { $0.merge(uses) { later, _ in later } }
    }

    /// Returns all recorded uses, by the identifiers of the keys, and removes them.
    func drain() -> [String: Timestamp] {
        waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }
}

/// The sets of scopes by their names in the ledger. The same names always stand for the same set, and all keys have few of them.
private final class ScopeSets: Sendable {
    private let sets = Mutex<[ByteKey: Set<APIKeyScope>]>([:])

    subscript(names: String) -> Set<APIKeyScope> {
        sets.withLock { sets in
            if let known = sets[ByteKey(names)] { return known }
            let scopes = Set(names.split(separator: " ").compactMap { APIKeyScope(rawValue: String($0)) })
            sets[ByteKey(names)] = scopes
            return scopes
        }
    }
}

/// The records of API keys that were read from a database server within the last second.
///
/// A read of the key would take as long as that of a user's items. The price is that a service accepts a revoked key for up to a
/// second.
private final class KnownAPIKeys: Sendable {
    private static let validity = Duration.seconds(1)
    /// The approximate size of a record, in bytes.
    private static let size = 1024

    private let records = RecentValues<ByteKey, (record: APIKeyRecord, readAt: ContinuousClock.Instant)>(upTo: 1 << 20)

    subscript(identifier: String) -> APIKeyRecord? {
        guard let (record, readAt) = records[ByteKey(identifier)], ContinuousClock.now - readAt < Self.validity else {
            return nil
        }
        return record
    }

    func keep(_ record: APIKeyRecord, readAt: ContinuousClock.Instant) {
        records.keep((record, readAt), for: ByteKey(record.identifier), size: Self.size)
    }
}

/// The keys for metrics that the ledger has confirmed, for the time in which it is away.
private final class RememberedAPIKeys: Sendable {
    /// The ledger's answer about an identifier; the record is nil for an unknown one.
    struct Answer: Sendable {
        let record: APIKeyRecord?
    }

    /// The longest wait for the ledger. Prometheus waits ten seconds for an answer by default.
    static let patience = Duration.seconds(1)
    /// The time for which a key is remembered, in days.
    private static let days: Int64 = 1
    private static let capacity = 16

    private let known = Mutex<[String: (record: APIKeyRecord, confirmedAt: Timestamp)]>([:])

    func keep(_ answer: Answer, of identifier: String, at moment: Timestamp) {
        known.withLock { known in
            known[identifier] = nil
            guard let record = answer.record, record.isValid(at: moment),
                record.scopes.contains(APIKeyScope.metrics.rawValue)
            else { return }
            if known.count >= Self.capacity, let oldest = known.min(by: { $0.value.confirmedAt < $1.value.confirmedAt })
            {
                known[oldest.key] = nil
            }
            known[identifier] = (record, moment)
        }
    }

    func record(_ identifier: String, at moment: Timestamp) -> APIKeyRecord? {
        guard let (record, confirmedAt) = known.withLock({ $0[identifier] }), confirmedAt <= moment,
            moment < confirmedAt.adding(days: Self.days)
        else { return nil }
        return record
    }
}

/// A platform on which an app runs with a public key.
package enum AppPlatform: String, Sendable, CaseIterable {
    case apple

    var keyPrefix: String {
        switch self {
        case .apple: "appl_"
        }
    }

    /// The platform whose prefix a credential has; nil for another credential.
    init?(prefixOf credential: String) {
        guard let platform = Self.allCases.first(where: { credential.hasPrefix($0.keyPrefix) }) else { return nil }
        self = platform
    }
}

/// A public key cannot be made.
package enum PublicKeyError: CodedError, Equatable {
    /// The app has a valid public key for the platform.
    case exists(key: String, app: String, platform: AppPlatform)

    package var code: String { "publicKeyExists" }

    package var message: String {
        switch self {
        case .exists(let key, let app, let platform):
            "The app \"\(app)\" has the public key \(key) for the platform \"\(platform.rawValue)\". Use it, or revoke it "
                + "first with `till keys revoke \(key)`: apps with that key are then refused."
        }
    }
}

extension APIKeys {
    private static let recordingInterval = Duration.seconds(60)
    /// The longest delay of a stop, if the database server is away.
    private static let lastRecordingTimeout = Duration.seconds(2)

    /// The task that writes the last uses of API keys to the ledger each minute, and when the service stops.
    ///
    /// A crash loses at most a minute's uses.
    package func useRecording(logger: Logger) -> Companion { Companion { try await keepRecording(logger) } }

    private func keepRecording(_ logger: Logger) async throws {
        let work = RepeatedWork(
            "the last uses of API keys are not recorded", Rhythm(every: Self.recordingInterval, beginsAtOnce: false),
            logger: logger)
        let outcomes = RecordingOutcomes()
        let recording = work.companion {
            outcomes.isFailing.store(true, ordering: .relaxed)
            try await recordUses()
            outcomes.isFailing.store(false, ordering: .relaxed)
            return true
        }
        try await recording.run()
        // A ledger that is away delays no stop.
        guard !outcomes.isFailing.load(ordering: .relaxed) else { return }
        do {
            _ = try await BlockingWork.run(waitingUpTo: Self.lastRecordingTimeout) { try await recordUses() }
        } catch {
            FailureLog.Line.failed(FailureCause(error), count: 1).log(work.failure, in: logger)
        }
    }

    /// The outcome of the last recording.
    private final class RecordingOutcomes: Sendable {
        let isFailing = Atomic(false)
    }
}
