import Commerce
import Signatures

/// An entry of a user's audit log, in its place.
///
/// The log is a chain: each digest is over the digest before it and the entry, so that none can be changed, taken out or put
/// in without changing all that follow. Of a reason there is only a digest in it, over the text and a salt of its own, so that
/// the text can be erased, and then cannot be guessed either, while the chain stays unbroken.
public struct AuditRecord: Hashable, Sendable {
    /// What comes before the first.
    static let beginning = [UInt8](repeating: 0, count: 32)

    /// 1 for a user's first.
    public let number: Int64
    public let entry: AuditEntry
    /// nil where there is no reason, or it was erased.
    let reasonSalt: [UInt8]?
    /// nil where no reason was ever given.
    let reasonDigest: [UInt8]?
    /// SHA-256.
    public let digest: [UInt8]

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
            origin: try row["origin"], reference: try row["reference"], subject: try row["subject"],
            reason: try row["reason"])
        reasonSalt = try row["reason_salt"]
        reasonDigest = try row["reason_digest"]
        digest = try row["digest"]
    }

    /// Whether this is what was written after `previous`; nil for a user's first.
    public func follows(_ previous: AuditRecord?) -> Bool {
        number == (previous?.number ?? 0) + 1
            // Of a reason that was erased nothing can be said; one that has no digest was never given.
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

    /// Over the digest before it, then each field: its length in four bytes, big-endian, and its bytes; all bits set for the
    /// length of one that is not there.
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
        var state = SHA256State()
        state.update(message[...])
        return state.digest()
    }
}
