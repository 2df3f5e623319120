import Catalog
import Ledger
import Proofs
import Vocabulary

/// The purchases and gifts that give items to a user, as one statement has read them.
struct UserCoverage {
    /// The coverage that is not revoked and has begun, or begins soon.
    private(set) var coverage: [ItemCoverage] = []
    /// The number of the user, and the number of the last write for the user; nil if an answer about the user must not be kept.
    fileprivate(set) var state: UserState?
    /// The next moment at which time alone may change an answer; nil if there is none.
    private(set) var changesAt: Timestamp?
    /// The user's own name; nil if the ledger has no user of the number.
    fileprivate private(set) var owner: User?
    fileprivate private(set) var version: Int64 = 0
    /// The number of the user; nil if the ledger has none.
    fileprivate private(set) var number: Int64?

    /// The longest time before its start in which a renewal counts, in days. The App Store signs it a day before.
    private static let earlyDays: Int64 = 31
    /// The facts of the last row.
    private var facts = TransactionFacts()

    fileprivate mutating func add(_ row: inout ResultRow, of origins: Set<Origin>, from view: Viewpoint) throws {
        let kind: Int64 = try row.next()
        guard kind > 0 else { return try addPurchase(&row, of: origins, from: view) }
        guard kind > 1 else { return try addGrant(&row, from: view) }
        let name: String = try row.next()
        version = try row.next()
        owner = User(issuer: try row.next(), name: name)
        number = try row.next()
    }

    private mutating func addPurchase(
        _ row: inout ResultRow, of origins: Set<Origin>, from view: Viewpoint
    ) throws {
        _ = try row.nextValue()
        let (origin, item): (Origin, Item) = (try row.next(), try Item(&row))
        guard origins.contains(origin) else { return }
        let (coversFrom, endsAt): (Timestamp?, Timestamp?) = (try row.next(), try row.next())
        let purchase = try ItemPurchase(&row, from: origin, readingInto: &facts)
        if let coversFrom {
            let read = coversFrom.adding(days: -Self.earlyDays)
            note(read, at: view.moment)
            note(coversFrom, at: view.moment)
            guard read <= view.moment else { return }
        }
        for end in [endsAt, purchase.period.expiresAt, purchase.period.graceEndsAt] {
            if let end { note(end, at: view.moment) }
        }
        let renewal = try StatedRenewal(standing: &row)
        // Room for what most users own, so that the list does not grow step by step.
        if coverage.isEmpty { coverage.reserveCapacity(16) }
        coverage.append(
            ItemCoverage(
                item: item, beginsAt: purchase.period.ownedFrom, coversFrom: coversFrom, endsAt: endsAt,
                source: .purchase(purchase), renewal: renewal))
    }

    private mutating func addGrant(_ row: inout ResultRow, from view: Viewpoint) throws {
        for _ in 0..<2 { _ = try row.nextValue() }
        let item = try Item(&row)
        guard view.sees(item) else { return }
        let (grantedAt, endsAt): (Timestamp, Timestamp?) = (try row.next(), try row.next())
        if let endsAt { note(endsAt, at: view.moment) }
        for _ in 0..<2 { _ = try row.nextValue() }
        coverage.append(
            ItemCoverage(item: item, beginsAt: grantedAt, endsAt: endsAt, source: .grant(identifier: try row.next())))
    }

    private mutating func note(_ change: Timestamp, at moment: Timestamp) {
        if change > moment { changesAt = min(changesAt ?? change, change) }
    }

    // MARK: SQL

    /// The user whose coverage a statement reads.
    fileprivate enum Subject {
        case number(Int64)
        /// The user to whom a name leads, in the same statement.
        case name(User)
    }

    private static let byNumber = (0..<4).map { text(ofName: false, ofItem: $0 / 2 == 1, inApp: $0 % 2 == 1) }
    private static let byName = (0..<4).map { text(ofName: true, ofItem: $0 / 2 == 1, inApp: $0 % 2 == 1) }

    fileprivate static func query(
        of subject: Subject, with item: Item?, in app: String?
    ) -> (String, [any SQLConvertible]) {
        let place = (item == nil ? 0 : 2) + (app == nil ? 0 : 1)
        var (sql, arguments): (String, [any SQLConvertible]) =
            switch subject {
            case .number(let number): (byNumber[place], [number])
            case .name(let user): (byName[place], [user.name, user.issuer])
            }
        if let item { arguments += [item.collection, item.number] as [any SQLConvertible] }
        if let app { arguments.append(app) }
        return (sql, arguments)
    }

    /// One range of each of three tables, all led by the user's number. PostgreSQL takes the types of a union's columns from its
    /// first part, so a grant's identifier is in the column of a transaction's.
    private static func text(ofName isOfName: Bool, ofItem isOfItem: Bool, inApp isInApp: Bool) -> String {
        let isUser =
            "user_id = " + (isOfName ? "(SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2)" : "$1")
        let next = isOfName ? 3 : 2
        let columns = ["begins_at", "ends_at"] + ItemPurchase.columns + StandingBenefit.renewal
        let ofItem = isOfItem ? "AND collection = $\(next) AND number = $\(next + 1)" : ""
        let app = isOfItem ? next + 2 : next
        let ofApp = isInApp ? "AND app = (SELECT app FROM app WHERE bundle_id = $\(app))" : ""
        func nulls(_ count: Int) -> String { Array(repeating: "NULL", count: count).joined(separator: ", ") }
        return """
            SELECT 0, NULL, origin, collection, number, \(columns.joined(separator: ", "))
            FROM redeemed_transaction \(ProductRecords.join(to: "redeemed_transaction"))
            WHERE \(isUser) AND is_revoked = 0 AND collection IS NOT NULL \(ofItem) \(ofApp)
            UNION ALL
            SELECT 1, NULL, NULL, collection, number, granted_at, ends_at, NULL, NULL, grant_id,
                \(nulls(columns.count - 5))
            FROM team_grant WHERE \(isUser) AND revoked_at IS NULL \(ofItem)
            UNION ALL
            SELECT 2, name, version, issuer, user_id, \(nulls(columns.count)) FROM "user" WHERE \(isUser)
            """
    }
}

extension StatedRenewal {
    /// The statement in the next columns, which are `StandingBenefit.renewal`; nil without one.
    fileprivate init?(standing row: inout ResultRow) throws(ColumnMismatch) {
        let (statedAt, renews, isDeclined): (Timestamp?, Bool?, Bool?) = (
            try row.next(), try row.next(), try row.next()
        )
        guard let statedAt else { return nil }
        var facts = RenewalFacts()
        if let renews { facts[.autoRenewStatus] = .integer(renews ? 1 : 0) }
        if let isDeclined { facts[.isInBillingRetryPeriod] = .integer(isDeclined ? 1 : 0) }
        self.init(statedAt: statedAt, proofDigest: [], facts: facts)
    }
}

/// The last write for a user. Each write that changes an answer about the user raises the version.
package struct UserState: Hashable, Sendable {
    package let number: Int64
    package let version: Int64
}

extension LedgerTransaction {
    /// The purchases and gifts that give items to a user; nil for an unknown user.
    ///
    /// The number of a user's own name is remembered. The row that it leads to has the name, or the number is found again.
    ///
    /// - Parameter item: The only item whose coverage is read; nil for all items.
    func coverage(of user: User, with item: Item? = nil, from view: Viewpoint) throws -> UserCoverage? {
        if let remembered = numbers[user] {
            let read = try coverage(.number(remembered), with: item, of: user, from: view)
            if read.state != nil { return read }
        }
        if database.findsUsersInStatements {
            // A statement reads one snapshot, so the number is that of the name at the moment of the rows, whichever merge, log-in or
            // erasure is committed meanwhile.
            let read = try coverage(.name(user), with: item, of: user, from: view)
            if let state = read.state { numbers.keep(state.number, for: user) }
            return read.number == nil ? nil : read
        }
        // A merge may come between both statements and make the former user a tombstone. The next round finds the new user.
        for _ in 0..<Self.attempts {
            guard let number = try users.known(user) else { return nil }
            let read = try coverage(.number(number), with: item, of: user, from: view)
            if read.state != nil { numbers.keep(number, for: user) }
            if read.state != nil || read.owner?.issuer != User.erasedIssuer { return read }
        }
        throw damaged
    }

    private static var attempts: Int { 3 }

    private func coverage(
        _ subject: UserCoverage.Subject, with item: Item?, of user: User, from view: Viewpoint
    ) throws -> UserCoverage {
        let origins = view.accepted.origins(for: user)
        var read = UserCoverage()
        let (sql, arguments) = UserCoverage.query(of: subject, with: item, in: view.limit?.app)
        try database.forEachRow(sql, arguments) { try read.add(&$0, of: origins, from: view) }
        // An alias leads to a user of another name, whose answers are not kept under the alias.
        if read.owner == user, let number = read.number {
            read.state = UserState(number: number, version: read.version)
        }
        return read
    }

    /// True if nothing was written for a user since a read, and the name is still the user's own.
    func isUnchanged(_ state: UserState, of user: User) throws -> Bool {
        try database.row(
            #"SELECT version, issuer, name FROM "user" WHERE user_id = $1"#, [state.number]
        ) { row in
            let version: Int64 = try row.next()
            let (issuer, name): (String, String) = (try row.next(), try row.next())
            return version == state.version && issuer.hasSameBytes(as: user.issuer) && name.hasSameBytes(as: user.name)
        } ?? false
    }
}
