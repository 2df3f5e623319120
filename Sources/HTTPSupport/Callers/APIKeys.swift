import Commerce
import Ledger
import Signatures

/// The API keys of a team's back ends: made, listed, ended, and recognised when one is presented.
///
/// A key reads `till_IDENTIFIER_SECRET`: the identifier finds its record and may be seen by anybody, the secret is 256 random
/// bits, shown once, of which only a SHA-256 is kept.
public struct APIKeys: Sendable {
    /// The longest name, in bytes of UTF-8.
    public static let maximumNameLength = 64
    /// The prefix of every key. No token has it.
    package static let prefix = "till_"

    private let ledger: Ledger
    private let clock: any WallClock
    private let randomness: Randomness
    private let uses = APIKeyUses()

    public init(ledger: Ledger, clock: any WallClock, randomness: Randomness) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
    }

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app that the key is for; nil for all apps.
    ///   - expiresAt: The time from which the key is refused; nil if it does not expire.
    /// - Returns: The record, and the key itself, which cannot be read again.
    public func make(
        name: String,
        scopes: Set<APIKeyScope>,
        app: String? = nil,
        expiresAt: Timestamp? = nil
    ) async throws -> (record: APIKeyRecord, key: String) {
        let identifier = randomness.bytes(6).hexadecimal
        let key = Self.prefix + identifier + "_" + Base64.encode(randomness.bytes(32), .urlSafe)
        let record = APIKeyRecord(
            identifier: identifier, name: name,
            scopes: APIKeyScope.allCases.filter(scopes.contains).map(\.rawValue), app: app,
            secretDigest: Self.digest(of: key), createdAt: clock.now(), expiresAt: expiresAt)
        try await ledger.write { try $0.add(record) }
        return (record, key)
    }

    public func list() async throws -> [APIKeyRecord] {
        try await ledger.read { try $0.apiKeys() }
    }

    /// The keys that the service accepts now.
    public func validKeys() async throws -> [APIKeyRecord] {
        let now = clock.now()
        return try await list().filter { $0.isValid(at: now) }
    }

    /// - Returns: False if there is no key with this identifier.
    public func revoke(_ identifier: String) async throws -> Bool {
        try await ledger.write { try $0.revokeAPIKey(identifier, at: clock.now()) }
    }

    /// Writes the last uses of keys to the ledger, in one commit for all keys.
    public func recordUses() async throws {
        let uses = uses.drain()
        guard !uses.isEmpty else { return }
        try await ledger.write { transaction in
            for (identifier, moment) in uses { try transaction.recordUse(ofAPIKey: identifier, at: moment) }
        }
    }

    /// The caller that presents a key. The time of the use stays in memory until `recordUses`.
    ///
    /// - Returns: Nil for a key that is unknown, wrong or revoked.
    /// - Throws: `Problem` for a key that has expired; `StorageFault`.
    package func caller(presenting key: String) async throws -> Caller? {
        guard key.hasPrefix(Self.prefix), key.utf8.count < 128 else { return nil }
        let identifier = key.dropFirst(Self.prefix.count).prefix { $0 != "_" }
        guard let record = try await ledger.read(.statement, { try $0.apiKey(String(identifier)) }),
            record.revokedAt == nil,
            ConstantTime.areEqual(Self.digest(of: key), record.secretDigest)
        else { return nil }
        let now = clock.now()
        if let expiresAt = record.expiresAt, now >= expiresAt { throw Problem.keyExpired(record.name, at: expiresAt) }
        uses.record(record, at: now)
        return .backEnd(
            key: record.identifier, scopes: Set(record.scopes.compactMap(APIKeyScope.init(rawValue:))), app: record.app)
    }

    private static func digest(of key: String) -> [UInt8] {
        DigestAlgorithm.sha256.digest(of: Array(key.utf8))
    }
}

extension Problem {
    fileprivate static func keyExpired(_ name: String, at moment: Timestamp) -> Problem {
        Problem(
            status: .unauthorized, code: "keyInvalid",
            detail: "The API key \"\(name)\" expired on \(moment.rfc3339). Make a new one with `till keys make`.")
    }
}
