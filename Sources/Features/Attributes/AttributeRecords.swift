import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The statements on attributes, inside the caller's transaction.
struct AttributeRecords {
    let database: any LedgerDatabase

    /// The number that stands for the team instead of an app.
    static let team: Int64 = 0

    /// All attributes of a user, removed ones included, by the number of the app whose public key has stated them.
    func attributes(of user: Int64) throws -> [Int64: [Attribute]] {
        guard try database.has("app_attribute") else { return [:] }
        var attributes: [Int64: [Attribute]] = [:]
        try database.forEachRow(Self.ofUser, [user]) { row in
            let app: Int64 = try row.next()
            attributes[app, default: []].append(try Attribute(&row))
        }
        return attributes
    }

    static let ofUser = """
        SELECT \(team) AS app, name, value, stated_at, is_public FROM attribute WHERE user_id = $1
        UNION ALL
        SELECT app, name, value, stated_at, 1 FROM app_attribute WHERE user_id = $1
        """

    /// Moves the attributes of a user to another. The newest statement of each side about each attribute counts.
    func merge(_ former: Int64, into user: Int64) throws {
        let moved = try attributes(of: former)
        guard !moved.isEmpty else { return }
        let present = try attributes(of: user)
        for (app, attributes) in moved {
            try delete(attributes, of: former, app)
            try write((present[app] ?? []).merged(with: attributes), of: user, app)
        }
    }

    func write(_ update: AttributeUpdate, of user: Int64, _ app: Int64) throws {
        try delete(update.deleted + update.written, of: user, app)
        let (table, columns, key) = place(of: user, app)
        // An app's statements are public.
        let isTeam = app == Self.team
        try database.insert(
            into: table, columns + ["name", "value", "stated_at"] + (isTeam ? ["is_public"] : []),
            update.written.map { key + [$0.name, $0.value, $0.statedAt] + (isTeam ? [$0.isPublic] : []) })
    }

    private func delete(_ attributes: [Attribute], of user: Int64, _ app: Int64) throws {
        let (table, columns, key) = place(of: user, app)
        try database.delete(from: table, where: columns + ["name"], attributes.map { key + [$0.name] })
    }

    /// The table of the attributes that the team or an app has stated, and the beginning of its key.
    private func place(
        of user: Int64, _ app: Int64
    ) -> (table: String, columns: [String], key: [any SQLConvertible]) {
        app == Self.team
            ? ("attribute", ["user_id"], [user]) : ("app_attribute", ["user_id", "app"], [user, app])
    }
}

extension LedgerTransaction {
    /// The attributes of a user, without removed ones, in the order of their names.
    ///
    /// - Parameter app: The bundle identifier of the only app whose statements are read, besides the team's; nil for all apps.
    package func attributes(of user: User, seenBy app: String? = nil) throws -> [Attribute] {
        guard let user = try users.known(user) else { return [] }
        return try attributes(stated: try AttributeRecords(database: database).attributes(of: user), seenBy: app)
    }

    /// The attributes that stand by statements, without removed ones, in the order of their names.
    ///
    /// - Parameter sides: The statements by the number of the app whose public key has made them.
    func attributes(stated sides: [Int64: [Attribute]], seenBy app: String?) throws -> [Attribute] {
        guard !sides.isEmpty else { return [] }
        let limit = try number(ofApp: app)
        let seen = sides.filter { side, _ in
            side == AttributeRecords.team || limit.map { $0.number == nil || $0.number == side } ?? false
        }
        // A public statement with a key for all apps names no app.
        return seen.flatMap { side, attributes in
            attributes.filter { app == nil || side != AttributeRecords.team || !$0.isPublic }
        }.standing
    }

    /// All statements about a user, with those of each app, without removed attributes, in the order of the names.
    package func statedAttributes(of user: User) throws -> [Attribute] {
        guard let user = try users.known(user) else { return [] }
        return try AttributeRecords(database: database).attributes(of: user).sorted { $0.key < $1.key }
            .flatMap(\.value).filter { $0.value != nil }.sorted { $0.key < $1.key }
    }

    /// Applies statements about a user's attributes. The newest statement of each side about each attribute counts.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the app whose public key states them; nil for the team.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `AttributeError.tooMany`; `LedgerError`.
    package func state(
        _ statements: [Attribute],
        of user: User,
        from app: String? = nil,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws {
        let bytesOfUser = try users.known(user) == nil ? NewcomerAllowance.bytes(ofUserNamed: user) : 0
        let number = try number(of: user, at: moment)
        let records = AttributeRecords(database: database)
        let side = try app.flatMap { try database.apps.numbers(of: [$0])[$0] } ?? AttributeRecords.team
        let before = (try records.attributes(of: number)[side] ?? []).known(at: moment)
        let update = try before.update(by: statements.map { $0.received(at: moment) })
        guard !update.isEmpty else { return }
        try charge(bytesOfUser + update.growth(of: before), for: number, to: newcomers)
        try records.write(update, of: number, side)
    }
}

/// The search for customers by what they say of themselves.
extension EntitlementService {
    /// The users whose name, account token, e-mail address, phone number or display name is a text, or who have the charge that it
    /// describes, then those whose name contains it (`NameIndex`).
    package func users(
        searchedBy text: String, after last: RecordPosition? = nil, limit: Int
    ) async throws -> (users: [KnownUser], next: RecordPosition?) {
        let charge = DescribedCharge(text, in: catalogs, at: clock.now())
        let stated = try await ledger.read(.snapshot) { transaction in
            let charged = try charge.map { try transaction.customers(charged: $0) } ?? []
            return try transaction.users(stating: text).union(charged)
        }
        return try await names.users(named: text, identified: stated, after: last, limit: limit)
    }
}

extension LedgerTransaction {
    /// The largest number of users of one address or display name that a search finds.
    private static let maximumStating = 50

    /// The users of whose account a text is the e-mail address, or of whom it is an attribute that identifies a person, in any case.
    ///
    /// An app may state any address, so a statement that another one has replaced finds nobody.
    fileprivate func users(stating text: String) throws -> Set<Int64> {
        guard text.utf8.count <= FoldedText.maximumLength else { return [] }
        var users: Set<Int64> = []
        if try database.has("account_email"),
            let user: Int64 = try database.value(
                "SELECT user_id FROM account_email WHERE email_lowercase = $1", [text.lowercased()])
        {
            users.insert(user)
        }
        guard try database.has("app_attribute") else { return users }
        let (records, searched) = (AttributeRecords(database: database), FoldedText(text))
        for table in ["attribute", "app_attribute"] {
            let stating: [Int64] = try database.rows(
                """
                SELECT user_id FROM \(table)
                WHERE \(Table.searchedValue) = lower($1) AND \(Table.isSearched) LIMIT $2
                """,
                [text, Self.maximumStating]
            ) { try $0.next() }
            for user in stating where !users.contains(user) {
                let standing = try attributes(stated: try records.attributes(of: user), seenBy: nil)
                if standing.contains(where: { $0.isSearched && $0.value.map(FoldedText.init) == searched }) {
                    users.insert(user)
                }
            }
        }
        return users
    }
}

extension LedgerFeature {
    package static let attributes = LedgerFeature(
        tables: [.attribute, .appAttribute],
        mergeHook: { former, user, database in
            try AttributeRecords(database: database).merge(former, into: user)
        })
}

extension Attribute {
    /// The attributes by which a search finds a customer, under RevenueCat's names
    /// (revenuecat.com/docs/customers/customer-attributes, "Reserved attributes"). An index of all values would be as large as their table.
    fileprivate static let searchedNames = ["$displayName", "$email", "$phoneNumber"]

    fileprivate var isSearched: Bool { Self.searchedNames.contains { $0.hasSameBytes(as: name) } }
}

extension Table {
    fileprivate static let isSearched =
        "name IN (" + Attribute.searchedNames.map { "'\($0)'" }.joined(separator: ", ") + ")"
    /// The part of a value that is compared. A page of PostgreSQL's indexes does not hold every value.
    fileprivate static let searchedValue = "lower(substr(value, 1, 254))"

    /// The last statement of the team about each attribute. `value`: null for a removed attribute, whose time an older statement
    /// must not undo. `is_public`: 1 for a statement through a door, with a key for all apps.
    fileprivate static let attribute = Table(
        name: "attribute", family: .userData,
        columns: [
            .integer("user_id"), .text("name", check: "name <> ''"), .text("value").optional, .integer("stated_at"),
            .integer("is_public", check: "is_public IN (0, 1)"),
        ],
        key: ["user_id", "name"], erasure: .deletion
    )
    .indexed("attribute_searched", by: [searchedValue], where: isSearched)

    /// The last statement about each attribute with the public keys of each app.
    fileprivate static let appAttribute = Table(
        name: "app_attribute", family: .userData,
        columns: [
            .integer("user_id"), .integer("app", check: "app > 0"), .text("name", check: "name <> ''"),
            .text("value").optional, .integer("stated_at"),
        ],
        key: ["user_id", "app", "name"], erasure: .deletion
    )
    .indexed("app_attribute_searched", by: [searchedValue], where: isSearched)
}
