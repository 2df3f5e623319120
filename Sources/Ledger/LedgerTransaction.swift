import Foundation
import Proofs
import Vocabulary

/// A transaction of the ledger, with the operations of a use case.
///
/// It is valid only inside the call of `Ledger.read` or `Ledger.write` that passes it.
package struct LedgerTransaction {
    package let database: any LedgerDatabase
    /// A source of random bytes for account tokens, tombstones and the salts of erasable texts.
    package let randomness: Randomness
    /// The fault of a ledger that lacks a row just written.
    package let damaged: StorageFault
    /// The names that stand for no user.
    package let blockedNames: BlockedNames
    package let numbers: UserNumbers

    package var users: UserRecords { UserRecords(database: database, randomness: randomness) }

    package var audit: AuditRecords { AuditRecords(database: database, randomness: randomness) }

    package var answers: AnswerRecords { AnswerRecords(database: database) }

    package var events: EventRecords { EventRecords(database: database) }

    /// The number of a user. A new user gets one.
    ///
    /// - Throws: `LedgerError.userBlocked`; `LedgerError.userUnknown` if the account was never opened, or was erased.
    package func number(of user: User, at moment: Timestamp) throws -> Int64 {
        try requireName(of: user)
        if let known = try users.known(user) { return known }
        guard let number = try users.add([user], at: moment)[user] else { throw LedgerError.userUnknown }
        return number
    }

    /// - Throws: `LedgerError.userBlocked` if the user's name stands for no user.
    package func requireName(of user: User) throws(LedgerError) {
        guard !blockedNames.contains(user) else { throw .userBlocked }
    }

    /// The records of a user's audit log, oldest first.
    ///
    /// - Parameters:
    ///   - number: The number of the record before the first one to return; 0 for all records.
    ///   - limit: The largest number of records to return.
    package func audit(of user: User, after number: Int64, limit: Int) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try audit.records(of: user, after: number, limit: limit)
    }

    /// The whole audit log of a user, with the logs of the users who were merged into the user, in the order of time.
    package func auditWithMerged(of user: User) throws -> [AuditRecord] {
        guard let user = try users.known(user) else { return [] }
        return try (users.formers(of: user) + [user]).flatMap { try audit.records(of: $0, after: 0, limit: .max) }
            .enumerated().sorted { ($0.element.entry.happenedAt, $0.offset) < ($1.element.entry.happenedAt, $1.offset) }
            .map(\.element)
    }

    /// The first users and aliases whose names are blocked, in the order of the names. It reads names up to the last of them.
    package func blockedUsers(limit: Int) throws -> [User] {
        var (users, last) = ([User](), (name: "", issuer: ""))
        while users.count < limit {
            let page = try database.rows(
                """
                SELECT name, issuer FROM user_name WHERE (name, issuer) > ($1, $2) ORDER BY name, issuer LIMIT 1000
                """,
                [last.name, last.issuer]
            ) { row -> (name: String, issuer: String) in (try row.next(), try row.next()) }
            guard let end = page.last else { break }
            users += page.compactMap { User(issuer: $0.issuer, name: $0.name) }.filter(blockedNames.contains)
            last = end
        }
        return Array(users.prefix(limit))
    }

    /// The token that a user's app puts into its purchases (StoreKit's `appAccountToken`). Nil before `makeAppAccountToken`.
    package func appAccountToken(of user: User) throws -> UUID? {
        guard let user = try users.known(user), let token = try users.appAccountToken(of: user), token.isSettled
        else { return nil }
        return token.token
    }

    /// Returns the token that a user's app puts into its purchases, and adds the user if the ledger does not know them.
    package func makeAppAccountToken(of user: User, at moment: Timestamp) throws -> UUID {
        let user = try number(of: user, at: moment)
        guard let token = try users.appAccountToken(of: user) else { throw damaged }
        if !token.isSettled { try users.settleAppAccountToken(of: user) }
        return token.token
    }

    /// The user of an account token, compared with given users.
    package enum TokenOwner: Hashable, Sendable {
        case nobody
        case given
        case other
    }

    /// Returns the relation of an account token's user to some users, each named by any id.
    package func owner(ofAppAccountToken token: UUID, among given: [User]) throws -> TokenOwner {
        guard let owner = try users.owner(of: token) else { return .nobody }
        return try given.contains { try users.known($0) == owner } ? .given : .other
    }

    /// Sets the account token that the team generated for a user, unless the user has one.
    ///
    /// - Parameter isCorrection: True to set it in any case. A former token of the user still leads to the user. The token of
    ///   another user is taken from that user.
    package func setAppAccountToken(
        _ token: UUID, of user: User, isCorrection: Bool = false, at moment: Timestamp
    ) throws -> AppAccountTokenAnswer {
        let (known, owner) = (try users.known(user), try users.owner(of: token))
        if !isCorrection {
            if let known, let present = try users.appAccountToken(of: known), present.token != token, present.isSettled
            {
                return .hasAnother(present.token)
            }
            // This check precedes the new user's number: a refusal writes nothing.
            if let owner, owner != known { return .ofAnotherUser }
        }
        let number = try number(of: user, at: moment)
        if let owner, owner != number { try users.takeAppAccountToken(token, from: owner) }
        try users.settleAppAccountToken(token, of: number, at: moment)
        return .set
    }

    /// Erases a user's name and the rows that the tables mark for erasure.
    ///
    /// Redeemed transactions stay redeemed: a tombstone with a random name owns them, so that nobody can redeem their proofs
    /// again at once. The hash chain of the audit log stays, too.
    ///
    /// - Returns: False if the ledger does not know the user.
    package func erase(_ user: User, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        // Answers for a user without a number have no user ID.
        try database.execute(
            "DELETE FROM kept_answer WHERE caller = $1 AND user_id IS NULL", [IdempotencyKey.caller(user)])
        guard let user = try users.known(user) else { return false }
        // The given name may be an alias.
        guard let own = try users.names(of: [user])[user] else { throw damaged }
        let tables = try database.describedTables()
        for table in tables {
            for holder in tables where holder.isErased && [table.owner?.table, table.aliases].contains(holder.name) {
                try eraseKeys(in: table, thatHas: holder, of: user)
            }
        }
        // Referencing rows are deleted before the rows that they refer to. Users who were merged into this one have an audit log.
        for number in [user] + (try users.formers(of: user)) {
            for table in tables.reversed() {
                guard let sql = table.erasureOfUser else { continue }
                try database.execute(sql, [number])
            }
        }
        let name = randomness.bytes(16).hexadecimal
        try users.rename(user, from: own, to: User.erasedIssuer, name)
        try users.setErased(user, at: moment)
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .erased, actor: actor, origin: nil, reference: name, subject: "user",
                reason: nil),
            to: user)
        return true
    }

    /// Erases a user's rows of a global key, whose keys another table has, too.
    private func eraseKeys(in table: Table, thatHas holder: Table, of user: Int64) throws {
        let columns = table.key.joined(separator: ", ")
        let keys = try database.rows("SELECT \(columns) FROM \(holder.quotedName) WHERE user_id = $1", [user]) {
            try $0.rest()
        }
        try database.delete(from: table.name, where: table.key, keys)
    }
}

extension Table {
    fileprivate var isErased: Bool { if case .deletion = erasure { true } else { false } }

    /// The statement that erases a user's rows; nil if they stay.
    fileprivate var erasureOfUser: String? {
        switch erasure {
        case .deletion: "DELETE FROM \(quotedName) WHERE user_id = $1"
        case .update(let values, let condition):
            "UPDATE \(quotedName) SET \(values) WHERE user_id = $1 AND (\(condition))"
        case nil: nil
        }
    }
}

extension LedgerTransaction {
    /// Returns true if the database orders text by bytes, as the comparison of products needs.
    ///
    /// A PostgreSQL database does so if its locale is C.
    package func ordersTextByBytes() throws -> Bool {
        // No user has this name. The aggregate gives the comparison the collation of the column.
        let isOrdered: Int64? = try database.value(
            """
            SELECT CASE WHEN coalesce(min(name), 'Z') < 'a' THEN 1 ELSE 0 END FROM user_name
            WHERE name = '' AND issuer = ''
            """,
            [])
        return isOrdered == 1
    }
}

package enum AppAccountTokenAnswer: Hashable, Sendable {
    /// The user has the token now, or had it before.
    case set
    /// The user has another token, which purchases may name already.
    case hasAnother(UUID)
    case ofAnotherUser
}

/// The statements on the numbers of apps, inside the caller's transaction.
package struct AppRecords {
    let database: any LedgerDatabase

    /// The query of `names` and `numbers`.
    package static var known: SQLQuery { SQLQuery("SELECT app, bundle_id FROM app") }

    /// The bundle identifiers of all apps, by their numbers.
    package func names() throws -> [Int64: String] {
        try database.dictionary(Self.known.sql) { (try $0.next(), try $0.next()) }
    }

    /// The numbers of all apps. New apps among the given ones get a number.
    package func numbers(of bundleIdentifiers: Set<String>) throws -> AppNumbers {
        var apps = AppNumbers()
        try database.forEachRow(Self.known) { apps.set(try $0.next(), of: try $0.next()) }
        for bundleIdentifier in bundleIdentifiers.sorted() where apps[bundleIdentifier] == nil {
            let number = apps.last + 1
            try database.insert(into: "app", ["app", "bundle_id"], [[number, bundleIdentifier]])
            apps.set(number, of: bundleIdentifier)
        }
        return apps
    }
}

package struct AppNumbers {
    private var numbers: [String: Int64] = [:]
    private var bundleIdentifiers: [Int64: String] = [:]

    /// The largest number; 0 if there is none.
    fileprivate var last: Int64 { bundleIdentifiers.keys.max() ?? 0 }

    fileprivate mutating func set(_ number: Int64, of bundleIdentifier: String) {
        numbers[bundleIdentifier] = number
        bundleIdentifiers[number] = bundleIdentifier
    }

    package subscript(bundleIdentifier: String) -> Int64? { numbers[bundleIdentifier] }

    /// - Throws: `ColumnMismatch` for a number that no app has.
    package func bundleIdentifier(of number: Int64) throws(ColumnMismatch) -> String {
        guard let bundleIdentifier = bundleIdentifiers[number] else { throw ColumnMismatch.column("app") }
        return bundleIdentifier
    }
}

/// The statements on the numbers of products, inside the caller's transaction.
///
/// The rows of a purchase have the number in place of the identifier: the transaction, its index and its record in the audit log.
package struct ProductRecords {
    let database: any LedgerDatabase

    /// The identifiers that rows have.
    package static let identifiers = SharedTexts()

    /// The SQL of the identifier of the product in a row of a table; null for a row without one.
    package static func identifier(in table: String) -> String {
        "(SELECT product_id FROM product WHERE product.product = \(table).product)"
    }

    /// The SQL after a table that adds the column `product_id`, for statements that read many rows. A sub-select takes SQLite longer for
    /// each of them. A row without a product stays.
    package static func join(to table: String) -> String { "LEFT JOIN product ON product.product = \(table).product" }

    /// The SQL of the number of the product that a parameter identifies; null for a product that nobody has redeemed.
    package static func number(of parameter: String) -> String {
        "(SELECT product FROM product WHERE product_id = \(parameter))"
    }

    package static func known(_ identifiers: Set<ByteKey>, in database: any LedgerDatabase) -> SQLQuery {
        SQLQuery(
            "SELECT product, product_id FROM product WHERE product_id \(database.isIn("$1"))",
            [database.list(eachOf: identifiers.map(\.text))])
    }

    /// The numbers of the known ones among products.
    package func numbers(of identifiers: Set<ByteKey>) throws -> ProductNumbers {
        var products = ProductNumbers()
        guard !identifiers.isEmpty else { return products }
        try database.forEachRow(Self.known(identifiers, in: database)) { row in
            let number: Int64 = try row.next()
            products.numbers[ByteKey(try row.next())] = number
        }
        return products
    }

    /// Gives a number to each product without one.
    package func add(_ identifiers: Set<ByteKey>, to products: inout ProductNumbers) throws {
        let unread = identifiers.filter { products.numbers[$0] == nil }
        guard !unread.isEmpty else { return }
        products.numbers.merge(try numbers(of: unread).numbers) { $1 }
        let new = unread.filter { products.numbers[$0] == nil }.sorted()
        guard !new.isEmpty else { return }
        // The first product has the number 1.
        let last: Int64 = try database.value("SELECT product FROM product ORDER BY product DESC LIMIT 1", []) ?? 0
        for (number, product) in zip((last + 1)..., new) { products.numbers[product] = number }
        try database.insert(
            into: "product", ["product", "product_id"], new.map { [products.numbers[$0], $0.text] })
    }
}

package struct ProductNumbers {
    fileprivate var numbers: [ByteKey: Int64] = [:]

    package subscript(product: String) -> Int64? { numbers[ByteKey(product)] }
}

extension LedgerTransaction {
    /// Assigns a number to an app, unless it has one.
    package func register(app bundleIdentifier: String) throws {
        _ = try database.apps.numbers(of: [bundleIdentifier])
    }

    /// The apps whose rows a query returns.
    package struct RequestedApp {
        /// Nil for all apps.
        package let number: Int64?

        /// - Parameters:
        ///   - bundleIdentifier: Nil for all apps.
        ///   - apps: The bundle identifiers of all apps, by their numbers.
        /// - Returns: Nil for an app that the ledger does not know.
        package init?(_ bundleIdentifier: String?, among apps: [Int64: String]) {
            guard let bundleIdentifier else {
                number = nil
                return
            }
            guard let app = apps.first(where: { $0.value.hasSameBytes(as: bundleIdentifier) }) else { return nil }
            number = app.key
        }
    }

    /// The number of an app.
    ///
    /// - Parameter bundleIdentifier: Nil for all apps.
    /// - Returns: Nil for an app that the ledger does not know.
    package func number(ofApp bundleIdentifier: String?) throws -> RequestedApp? {
        RequestedApp(bundleIdentifier, among: bundleIdentifier == nil ? [:] : try database.apps.names())
    }
}

extension LedgerDatabase {
    package var apps: AppRecords { AppRecords(database: self) }

    package var products: ProductRecords { ProductRecords(database: self) }
}

/// The error of a use case that writes for a user.
package enum LedgerError: RuledError, Equatable {
    /// The account was never opened, or was erased. Nobody could sign in to it and own the written rows.
    case userUnknown

    /// The name stands for no user, such as "null". Every device could have it.
    case userBlocked

    /// The bytes of the day for users without a purchase are used up.
    case newcomersLimited(secondsToWait: Int)

    package var rule: ErrorRule {
        switch self {
        case .userUnknown:
            ErrorRule(
                "userNotFound", .notFound, "The account is unknown or was erased. Nothing was written.",
                detail: "The user is unknown to the service or was erased.",
                korean: "서비스가 모르는 사용자이거나 삭제된 사용자입니다.")
        case .userBlocked:
            ErrorRule(
                "userInvalid", .badRequest,
                "The name stands for no user, like \"null\", or the setting blocked-user-names has it. Send the name of one "
                    + "user.",
                korean: "사용자를 가리키지 않는 이름이거나 설정 blocked-user-names에 있는 이름입니다. 한 사용자의 이름을 보내세요.")
        case .newcomersLimited(let seconds):
            ErrorRule(
                "tooManyRequests", .tooManyRequests, mayRetry: true, secondsToWait: seconds,
                "New customers have used up their part of the storage. Wait \(seconds) seconds.",
                korean: "구매가 없는 새 고객의 저장 공간을 다 썼습니다. \(seconds)초 뒤에 다시 시도하세요.")
        }
    }
}

/// The permission of a caller to write for users without a purchase, in bytes.
///
/// Anybody with an app's public key can invent users, and anybody can sign up. A transaction that runs again takes its bytes again.
package struct NewcomerAllowance: Sendable {
    /// The caller's network, by which other limits on strangers count; nil if it is not known.
    package let network: ClientNetwork?
    /// Takes bytes, all or none. Returns nil if they were available, otherwise the seconds until they are.
    package let take: @Sendable (Int) -> Int?

    package init(of network: ClientNetwork? = nil, take: @escaping @Sendable (Int) -> Int?) {
        self.network = network
        self.take = take
    }

    /// Takes bytes, all or none.
    ///
    /// - Throws: `LedgerError.newcomersLimited` if they are not available.
    package func charge(_ bytes: Int) throws(LedgerError) {
        if let seconds = take(bytes) { throw .newcomersLimited(secondsToWait: seconds) }
    }

    /// The bytes that a new user takes in the ledger, about: the names, the account token and the audit log.
    package static func bytes(ofUserNamed names: User...) -> Int {
        1024 + names.reduce(0) { $0 + 2 * $1.name.utf8.count }
    }
}
