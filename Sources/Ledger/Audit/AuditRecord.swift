import Proofs

/// An entry of a user's audit log, with its number and its digest.
///
/// The log is a hash chain: each digest covers the digest before it and the entry. Nobody can change, remove or insert a record
/// without changing all records after it. The chain covers only a salted digest of a reason. So the text can be erased, and
/// then cannot be guessed either, while the chain stays unbroken.
package struct AuditRecord: Hashable, Sendable {
    /// The digest before the first record.
    package static let beginning = [UInt8](repeating: 0, count: 32)

    /// The number of the record; 1 for a user's first.
    package let number: Int64
    package let entry: AuditEntry
    /// The salt of the reason's digest; nil if there is no reason, or if it was erased.
    let reasonSalt: [UInt8]?
    /// The digest of the reason; nil if none was ever given.
    package let reasonDigest: [UInt8]?
    /// The SHA-256 that the next record covers.
    package let digest: [UInt8]

    init(_ entry: AuditEntry, after previous: (number: Int64, digest: [UInt8])?, randomness: Randomness) {
        number = (previous?.number ?? 0) + 1
        self.entry = entry
        let salt = entry.reason.map { _ in randomness.bytes(16) }
        reasonSalt = salt
        let reasonDigest = Self.reasonDigest(entry.reason, salt)
        self.reasonDigest = reasonDigest
        digest = Self.digest(number, entry, reasonDigest, after: previous?.digest ?? Self.beginning)
    }

    package init(_ row: SQLRow) throws {
        number = try row["number"]
        entry = AuditEntry(
            happenedAt: try row["happened_at"], event: try row["event"], actor: try row["actor"],
            origin: try row["origin"], app: try row["app"], reference: try row["reference"],
            subject: try row["subject"], reason: try row["reason"])
        reasonSalt = try row["reason_salt"]
        reasonDigest = try row["reason_digest"]
        digest = try row["digest"]
    }

    /// Returns true if the record is the next one of the chain after `previous`; nil for a user's first.
    package func follows(_ previous: AuditRecord?) -> Bool {
        number == (previous?.number ?? 0) + 1
            // An erased reason cannot be checked. A reason without a digest was added later.
            && (entry.reason == nil
                || reasonDigest != nil && reasonDigest == Self.reasonDigest(entry.reason, reasonSalt))
            && digest == Self.digest(number, entry, reasonDigest, after: previous?.digest ?? Self.beginning)
    }

    private static func reasonDigest(_ reason: String?, _ salt: [UInt8]?) -> [UInt8]? {
        guard let reason, let salt else { return nil }
        var state = SHA256State()
        state.update(salt[...])
        state.update(Array(reason.utf8)[...])
        return state.digest()
    }

    /// The digest over the digest before it and each field: the field's length in four bytes, big-endian, then its bytes. A
    /// missing field has a length with all bits set.
    private static func digest(
        _ number: Int64,
        _ entry: AuditEntry,
        _ reasonDigest: [UInt8]?,
        after previous: [UInt8]
    ) -> [UInt8] {
        var message = previous
        func append(_ field: (some Collection<UInt8>)?) {
            let length = field.map { UInt32($0.count) } ?? .max
            withUnsafeBytes(of: length.bigEndian) { message.append(contentsOf: $0) }
            if let field { message.append(contentsOf: field) }
        }
        append(String(number).utf8)
        append(String(entry.happenedAt.millisecondsSince1970).utf8)
        append(entry.event.rawValue.utf8)
        append(entry.actor.description.utf8)
        append(entry.origin?.rawValue.utf8)
        append(entry.reference.utf8)
        append(entry.subject.utf8)
        append(reasonDigest)
        append(entry.app?.utf8)
        var state = SHA256State()
        state.update(message[...])
        return state.digest()
    }
}
