import Proofs
import Vocabulary

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

    static let columns = "number, \(AuditEntry.columns), reason_salt, reason_digest, digest"

    /// The record in the next columns, which are `columns`.
    init(_ row: inout ResultRow) throws {
        number = try row.next()
        entry = try AuditEntry(&row)
        reasonSalt = try row.next()
        reasonDigest = try row.next()
        digest = try row.next()
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
        _ number: Int64, _ entry: AuditEntry, _ reasonDigest: [UInt8]?, after previous: [UInt8]
    ) -> [UInt8] {
        var message = previous
        // Most entries take less.
        message.reserveCapacity(256)
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
        append(entry.measure?.amount.map { String($0).utf8 })
        append(entry.measure?.balance?.utf8)
        append(entry.measure?.end.map { String($0.millisecondsSince1970).utf8 })
        var state = SHA256State()
        state.update(message[...])
        return state.digest()
    }
}

/// The statements on users' audit logs, inside the caller's transaction.
package struct AuditRecords {
    let database: any LedgerDatabase
    let randomness: Randomness

    /// Appends an entry to a user's audit log, and notifies the listeners of the user.
    package func append(_ entry: AuditEntry, to user: Int64) throws {
        try append([(entry, user)])
    }

    /// Appends entries to users' audit logs, in order.
    package func append(_ entries: [(entry: AuditEntry, user: Int64)]) throws {
        guard !entries.isEmpty else { return }
        let users = UserRecords(database: database, randomness: randomness)
        var heads = try users.heads(of: Set(entries.map(\.user)))
        try append(entries, to: &heads)
        try users.write(heads)
    }

    /// Appends entries, for a caller that reads and writes the heads of the users itself.
    ///
    /// - Parameters:
    ///   - apps: The numbers of the apps of the entries; nil to read them.
    ///   - products: The numbers of known products. A record has the identifier of another one.
    ///   - hooks: The hooks of features; nil to prepare them.
    package func append(
        _ entries: [(entry: AuditEntry, user: Int64)], to heads: inout [Int64: UserHead], _ apps: AppNumbers? = nil,
        _ products: ProductNumbers = ProductNumbers(), _ hooks: [LedgerFeature.AuditHook]? = nil
    ) throws {
        guard !entries.isEmpty else { return }
        let apps = try apps ?? numbers(ofAppsIn: entries)
        let records = entries.map { entry, user in
            let head = heads[user, default: .first]
            let record = AuditRecord(entry, after: (head.auditNumber, head.auditDigest), randomness: randomness)
            heads[user, default: head].auditNumber = record.number
            heads[user, default: head].auditDigest = record.digest
            return (record: record, user: user)
        }
        try database.insert(
            into: "audit",
            [
                "user_id", "number", "happened_at", "event", "actor", "origin", "reference", "subject", "product",
                "reason", "reason_salt", "reason_digest", "digest", "app", "amount", "balance", "ends_at",
            ],
            try records.map { record, user in
                let entry = record.entry
                let app = try entry.app.map { app in
                    guard let number = apps[app] else { throw ColumnMismatch.column("app") }
                    return number
                }
                // The subject of an event without a purchase is no product.
                let product = entry.origin.flatMap { _ in products[entry.subject] }
                return [
                    user, record.number, entry.happenedAt, entry.event, entry.actor, entry.origin, entry.reference,
                    product == nil ? entry.subject : nil, product, entry.reason, record.reasonSalt, record.reasonDigest,
                    record.digest, app, entry.measure?.amount, entry.measure?.balance, entry.measure?.end,
                ]
            })
        for (_, user) in records { database.recordChange(of: user) }
        let hooks = try hooks ?? self.hooks()
        guard !hooks.isEmpty else { return }
        // The App Store goes on stating what happens to the purchases of an erased user, which concerns nobody any more.
        let told = records.filter { heads[$0.user]?.isErased != true }
        for hook in hooks { try hook(told, database, randomness) }
    }

    private func numbers(ofAppsIn entries: [(entry: AuditEntry, user: Int64)]) throws -> AppNumbers {
        let sold = Set(entries.compactMap(\.entry.app))
        return sold.isEmpty ? AppNumbers() : try database.apps.numbers(of: sold)
    }

    /// Reads the heads of users whose logs entries are appended to, and prepares the hooks of features, in one round trip.
    package func headsAndHooks(
        of users: Set<Int64>
    ) throws -> (heads: [Int64: UserHead], hooks: [LedgerFeature.AuditHook]) {
        guard !users.isEmpty else { return ([:], []) }
        let records = UserRecords(database: database, randomness: randomness)
        let tables = database.tables
        try database.prefetch(
            [records.queryOfHeads(users)]
                + tables.schema.features.compactMap(\.auditQuery).filter { tables.isPresent($0.table) }.map(\.query))
        return (try records.heads(of: users), try hooks())
    }

    private func hooks() throws -> [LedgerFeature.AuditHook] {
        try database.tables.schema.features.compactMap { try $0.auditHook?(database) }
    }

    func records(of user: Int64, after number: Int64, limit: Int) throws -> [AuditRecord] {
        try database.rows(
            "SELECT \(AuditRecord.columns) FROM audit WHERE user_id = $1 AND number > $2 ORDER BY number LIMIT $3",
            [user, number, limit]
        ) { try AuditRecord(&$0) }
    }

    /// The users whose chain is broken, each with the number of the first record that does not follow.
    func breaks(limit: Int) throws -> [(user: Int64, number: Int64)] {
        var breaks: [(user: Int64, number: Int64)] = []
        var last: (user: Int64, record: AuditRecord)?
        while breaks.count < limit {
            let page = try database.rows(
                """
                SELECT user_id, \(AuditRecord.columns) FROM audit WHERE (user_id, number) > ($1, $2)
                ORDER BY user_id, number LIMIT 1000
                """,
                [last?.user ?? Int64.min, last?.record.number ?? 0]
            ) { row -> (user: Int64, record: AuditRecord) in (try row.next(), try AuditRecord(&row)) }
            if page.isEmpty { break }
            for (user, record) in page {
                let isKnown = breaks.last?.user == user
                if !isKnown, !record.follows(last?.user == user ? last?.record : nil) {
                    breaks.append((user, record.number))
                }
                last = (user, record)
            }
        }
        return Array(breaks.prefix(limit))
    }
}

/// The verification of the audit logs of all users, page by page. It can pause after each page.
///
/// Each page is read from its own snapshot, so that no transaction is long. A user's last record is compared with the user's
/// head from the snapshot that shows no further record. Records written later than their user's turn are not verified.
package struct AuditVerification: Hashable, Sendable {
    static let maximumReported = 10
    /// The largest number of users and of records in a page.
    package static let sizeOfPage = 1000

    /// A user whose log was changed.
    package struct Break: Hashable, Sendable {
        /// The name; nil for an invalid one.
        package let user: User?
        /// The number of the first record that does not follow. It or an earlier one was changed or removed.
        package let number: Int64
    }

    /// The number of users whose logs were verified.
    package private(set) var users = 0
    package private(set) var records = 0
    /// The users whose logs were changed, in the order of their numbers.
    package private(set) var breaks: [Break] = []
    /// True if all users were verified.
    package private(set) var isComplete = false

    /// The user to continue with.
    private(set) var user = Int64.min
    /// The last verified record of that user; nil for none.
    private(set) var last: AuditRecord?
    /// True if the log of that user is broken before the position.
    private var isBroken = false

    package init() {}

    typealias Head = (user: Int64, name: User?, number: Int64, digest: [UInt8])

    /// The users from the position on, and their records in the order of the users and of their numbers. A page that is cut may
    /// lack records of its last users.
    typealias Page = (
        heads: [Head], records: [(user: Int64, record: AuditRecord)], isCut: Bool
    )

    /// Verifies a page that begins at the position.
    mutating func verify(_ page: Page) {
        var rest = page.records[...]
        for head in page.heads {
            if head.user != user { begin(head.user) }
            while let next = rest.first, next.user == user {
                check(next.record.follows(last), at: next.record.number, of: head.name)
                last = next.record
                records += 1
                rest = rest.dropFirst()
            }
            // The records of this user may go on.
            if page.isCut, rest.isEmpty { return }
            let (number, digest) = (last?.number ?? 0, last?.digest ?? AuditRecord.beginning)
            check(
                number == head.number && digest == head.digest,
                at: number == head.number ? max(number, 1) : min(number, head.number) + 1, of: head.name)
            users += 1
        }
        guard let end = page.heads.last?.user, end < .max else {
            isComplete = true
            return
        }
        begin(end + 1)
    }

    private mutating func begin(_ next: Int64) {
        user = next
        last = nil
        isBroken = false
    }

    private mutating func check(_ isIntact: Bool, at number: Int64, of user: User?) {
        guard !isIntact, !isBroken else { return }
        isBroken = true
        if breaks.count < Self.maximumReported { breaks.append(Break(user: user, number: number)) }
    }
}

extension Ledger {
    /// Verifies the next page of a verification. Requests do not wait for it.
    ///
    /// - Parameter limit: The largest number of users and of records in the page.
    /// - Throws: `StorageFault`; `CancellationError`. The verification can continue afterwards.
    package func verifyAudit(
        continuing verification: AuditVerification, limit: Int = AuditVerification.sizeOfPage
    ) async throws -> AuditVerification {
        var verification = verification
        guard !verification.isComplete else { return verification }
        let (user, last) = (verification.user, verification.last)
        let page = try await read(.longSnapshot) { transaction -> AuditVerification.Page in
            let heads = try transaction.database.rows(
                """
                SELECT user_id, issuer, name, audit_number, audit_digest FROM "user" WHERE user_id >= $1
                ORDER BY user_id LIMIT $2
                """,
                [user, limit]
            ) { row -> AuditVerification.Head in
                (user: try row.next(), name: try User(&row), number: try row.next(), digest: try row.next())
            }
            guard let end = heads.last?.user else { return ([], [], isCut: false) }
            let records = try transaction.database.rows(
                """
                SELECT user_id, \(AuditRecord.columns) FROM audit
                WHERE (user_id, number) > ($1, $2) AND user_id <= $3 ORDER BY user_id, number LIMIT $4
                """,
                [user, last?.number ?? .min, end, limit]
            ) { row -> (user: Int64, record: AuditRecord) in (try row.next(), try AuditRecord(&row)) }
            return (heads, records, isCut: records.count == limit)
        }
        verification.verify(page)
        return verification
    }
}
