import Foundation
import Ledger
import Proofs
import Vocabulary

/// A user in the ledger.
package struct KnownUser: Hashable, Sendable {
    package let user: User
    /// The account token that the user's purchases may contain, even if it was never returned.
    package let appAccountToken: UUID
    package let firstSeenAt: Timestamp

    /// The position of a user in a list in the order of the names.
    package struct Position: LosslessStringConvertible {
        package let user: User

        package init(user: User) { self.user = user }

        package var description: String { "\(user.issuer)\n\(user.name)" }
    }
}

extension KnownUser.Position {
    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let user = User(issuer: String(parts[0]), name: String(parts[1])) else { return nil }
        self.init(user: user)
    }
}

/// A redeemed purchase, with the statements about it.
package struct KnownPurchase: Hashable, Sendable {
    /// Nil if the user was erased.
    package let owner: User?
    /// The record of the owner's erasure, by whom and when; nil if the user was not erased.
    package var erasure: AuditEntry? { erasures.first }
    /// At most one element. The array keeps the value narrow.
    fileprivate let erasures: [AuditEntry]
    /// The bundle identifier of the app that sold it.
    package var app: String? { transactions.first?.app }
    package let status: PurchaseStatus
    /// The items that its transactions grant.
    package let items: [Item]
    /// The transactions, newest first.
    package let transactions: [RedeemedTransaction]
    /// The notifications, newest first.
    package let notifications: [StatedNotification]
}

extension KnownPurchase {
    /// The charge that a text names, as its transaction or in any spelling as its order. A text that names the whole purchase, such as a
    /// purchase token, leads to the newest charge.
    ///
    /// - Returns: Nil if the ledger does not have the charge of the order.
    package func charge(named text: String) -> RedeemedTransaction? {
        guard let order = OrderNumber(text)?.text else { return charge(among: [text]) ?? transactions.first }
        return charge(among: [text, order])
    }

    /// The newest charge whose transaction or order is one of some identifiers.
    package func charge(among identifiers: [String]) -> RedeemedTransaction? {
        let known = Set(identifiers.map { ByteKey($0) })
        return transactions.first {
            known.contains(ByteKey($0.transactionIdentifier))
                || $0.facts.text(.orderId).map { known.contains(ByteKey($0)) } ?? false
        }
    }
}

extension UnclaimedPurchase {
    /// True if a text names the stated charge, or the whole purchase: another charge of it has another date and price.
    package func isCharge(named text: String) -> Bool {
        guard let order = OrderNumber(text)?.text else { return true }
        return isCharge(among: [text, order])
    }

    /// True if the stated charge is the transaction or the order of one of some identifiers.
    package func isCharge(among identifiers: [String]) -> Bool {
        let names = [transactionIdentifier, stated.facts.text(.orderId) ?? transactionIdentifier]
        return identifiers.contains { identifier in names.contains { $0.hasSameBytes(as: identifier) } }
    }
}

extension [UnclaimedPurchase] {
    /// The last statement of each purchase, or the one that an identifier names: a purchase and its renewals are one.
    package func purchases(named identifiers: [String]) -> [UnclaimedPurchase] {
        let known = Set(identifiers.map { ByteKey($0) })
        func rank(_ purchase: UnclaimedPurchase) -> (Int, Timestamp) {
            (known.contains(ByteKey(purchase.transactionIdentifier)) ? 1 : 0, purchase.purchaseDate)
        }
        return reduce(into: []) { purchases, next in
            let place = purchases.firstIndex {
                $0.origin == next.origin && $0.app.hasSameBytes(as: next.app)
                    && $0.originalTransactionIdentifier.hasSameBytes(as: next.originalTransactionIdentifier)
            }
            guard let place else { return purchases.append(next) }
            if rank(purchases[place]) < rank(next) { purchases[place] = next }
        }
    }
}

/// The search for users.
extension LedgerTransaction {
    /// A user with the account token; nil for an unknown user.
    package func customer(_ user: User) throws -> KnownUser? {
        guard let number = try users.known(user) else { return nil }
        return try known([number: user])[number]
    }

    /// The users whose name or alias is a text, or the one whose account token it is, by their numbers. Several issuers may have
    /// users of one name.
    package func users(identifiedBy text: String) throws -> [Int64: KnownUser] {
        if let token = UUID(uuidString: text), let owner = try users.owner(of: token) {
            return try known(try presentNames(of: [owner]))
        }
        // Of all issuers, this one has the longest names. The ledger has the ids of apps' customers in another form.
        let (named, customer) = (User(issuer: User.customerIssuer, name: text), CustomerIdentifier(text)?.user)
        let names = [named, customer].compactMap { $0?.name }
        return names.isEmpty
            ? [:]
            : try known(
                try database.dictionary(
                    "SELECT user_id, issuer, name FROM user_name WHERE name \(database.isIn("$1")) LIMIT $2",
                    [database.list(eachOf: names), Self.maximumNamesakes]
                ) { row in
                    let number: Int64 = try row.next()
                    guard let user = try User(&row), user.issuer != User.erasedIssuer else { return nil }
                    return user == customer || named?.name.hasSameBytes(as: user.name) ?? false ? (number, user) : nil
                })
    }

    /// The largest number of users of one name that are found by it.
    private static let maximumNamesakes = 100

    /// The users with these names and numbers, with their account tokens.
    package func known(_ names: [Int64: User]) throws -> [Int64: KnownUser] {
        guard !names.isEmpty else { return [:] }
        return try database.dictionary(
            """
            SELECT user_id, app_account_token, first_seen_at FROM "user"
            WHERE user_id \(database.isIn(numbers: "$1"))
            """,
            [database.list(names.keys.sorted())]
        ) { row in
            let (number, token): (Int64, UUID) = (try row.next(), try row.next())
            let firstSeenAt: Timestamp = try row.next()
            return names[number].map {
                (number, KnownUser(user: $0, appAccountToken: token, firstSeenAt: firstSeenAt))
            }
        }
    }
}

extension EntitlementService {
    /// The purchases of a transaction, an original transaction, or an order or a purchase token of Google Play, with the statements
    /// about them.
    package func purchases(ofTransaction identifier: String) async throws -> [KnownPurchase] {
        let (catalogs, moment) = (catalogs, now(ofBuyerOf: identifier))
        return try await ledger.read { transaction in
            try transaction.identifiers(meantBy: identifier).flatMap(transaction.googleOriginals).flatMap {
                try transaction.purchases(ofTransaction: $0, in: limitingApp, at: moment) { catalogs.type(of: $0) }
            }
        }
    }
}

/// The search for purchases.
extension LedgerTransaction {
    /// The beginning of the order numbers of Google Play.
    static let orderPrefix = "GPA."

    /// The purchases of a transaction, an original transaction or an order at Google Play.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    package func purchases(
        ofTransaction identifier: String,
        in app: String? = nil,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> [KnownPurchase] {
        let (apps, reading) = (try apps, ReadingRecords(database: database))
        var purchases = try database.rows(
            """
            SELECT coalesce(original_transaction_id, transaction_id) AS identifier, origin, app, user_id
            FROM claim WHERE transaction_id = $1 AND user_id IS NOT NULL
            UNION
            SELECT transaction_id, origin, app, owner_id FROM claim WHERE transaction_id = $1 AND owner_id IS NOT NULL
            ORDER BY origin, app, identifier
            """,
            [SQLValue.packed(identifier)]
        ) { (key: try apps.key(&$0), owner: try $0.next() as Int64) }
        if identifier.hasPrefix(Self.orderPrefix) {
            purchases += try database.rows(
                """
                SELECT DISTINCT original_transaction_id, origin, app, user_id FROM redeemed_transaction
                WHERE order_id = $1 AND transaction_id <> $2 ORDER BY origin, app, original_transaction_id
                """,
                [identifier, SQLValue.packed(identifier)]
            ) { (key: try apps.key(&$0), owner: try $0.next() as Int64) }
        }
        return try purchases.compactMap { key, owner in
            guard app?.hasSameBytes(as: key.app) ?? true else { return nil }
            let transactions = try reading.transactions(ofPurchase: key, apps, of: owner)
            let renewal = try reading.renewals(of: owner).renewal(of: transactions)
            guard let status = PurchaseStatus(transactions, renewal, at: moment, type: type) else { return nil }
            let name = try presentNames(of: [owner])[owner]
            return KnownPurchase(
                owner: name, erasures: name == nil ? try erasures(of: owner) : [], status: status,
                items: try items(of: transactions.map(\.sequence).sorted(), of: owner),
                transactions: transactions.sorted { $0.sequence > $1.sequence },
                notifications: try notifications(of: key, apps))
        }
    }

    private func erasures(of user: Int64) throws -> [AuditEntry] {
        try database.rows(
            """
            SELECT \(AuditEntry.columns) FROM audit
            WHERE user_id = $1 AND event IN \([AuditEntry.Event.erased].sqlList) ORDER BY number DESC LIMIT 1
            """,
            [user], AuditEntry.init)
    }

    /// The latest notifications about a purchase, newest first.
    func notifications(of original: TransactionKey, _ apps: AppNumbers) throws -> [StatedNotification] {
        try database.rows(
            """
            SELECT \(StatedNotification.columns) FROM notification \(database.indexed(by: "notification_of_original"))
            WHERE original_transaction_id = $1 AND origin = $2 AND app = $3
            ORDER BY signed_at DESC, notification_uuid DESC LIMIT 200
            """,
            original.sqlValues(apps), StatedNotification.init)
    }

    /// The items that transactions of a user grant, each once, in order.
    func items(of sequences: [Int64], of user: Int64) throws -> [Item] {
        try database.rows(
            """
            SELECT DISTINCT collection, number FROM redeemed_transaction
            WHERE user_id = $1 AND sequence \(database.isIn(numbers: "$2")) AND collection IS NOT NULL
            """,
            [user, database.list(sequences)], Item.init
        ).sorted()
    }

    /// The owners of the purchases in entries of an audit log, by their transactions.
    ///
    /// - Parameter app: The bundle identifier of the purchases' app; nil for all apps.
    func owners(of entries: [AuditEntry], in app: String? = nil) throws -> [String: User] {
        guard !entries.isEmpty else { return [:] }
        let apps = try apps
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, user_id FROM claim
            WHERE transaction_id \(database.isIn(packed: "$1")) AND user_id IS NOT NULL
            UNION
            SELECT transaction_id, origin, app, owner_id FROM claim
            WHERE transaction_id \(database.isIn(packed: "$1")) AND owner_id IS NOT NULL
            """,
            [database.list(eachPacked: entries.map(\.reference))]
        ) { (key: try apps.key(&$0), owner: try $0.next() as Int64) }
        let names = try presentNames(of: Set(rows.map(\.owner)))
        var owners: [String: User] = [:]
        for (key, owner) in rows {
            guard app?.hasSameBytes(as: key.app) ?? true,
                entries.contains(where: {
                    $0.origin == key.origin && $0.reference.hasSameBytes(as: key.identifier)
                }), let name = names[owner]
            else { continue }
            owners[key.identifier] = name
        }
        return owners
    }
}

package enum AssignmentError: RuledError, Equatable {
    /// No such purchase is known, or a user has redeemed it.
    case purchaseNotFound
    /// Two origins use the same identifier.
    case purchaseAmbiguous
    case originNotAccepted(Origin)
    /// The usual checks refuse the purchase.
    case refused(Redemption.Result)

    package var rule: ErrorRule {
        switch self {
        case .purchaseNotFound:
            ErrorRule(
                "unclaimedPurchaseNotFound", .notFound,
                "No unclaimed purchase has this transaction. If a user has redeemed it, a search for the transaction finds "
                    + "the user.",
                korean: "이 거래의 소유자 미확인 구매가 없습니다. 이미 사용자에게 지급되었을 수 있습니다.")
        case .purchaseAmbiguous:
            ErrorRule(
                "transactionAmbiguous", .conflict,
                "Unclaimed purchases of two origins have this identifier. Name one in the query parameter origin.",
                korean: "출처가 다른 두 거래의 식별자가 같습니다. 출처를 지정하세요.")
        case .originNotAccepted(let origin):
            ProofRefusal.Reason.originNotAccepted.rule.stating(
                "Purchases from \(origin.rawValue) are not accepted for this user.")
        case .refused(let result): result.rule.stating(result.rule.remedy?.cause ?? result.rule.sentence)
        }
    }
}
