import Foundation
import Ledger
import Proofs
import Vocabulary

/// A purchase that the App Store has stated, and that nobody has redeemed.
package struct UnclaimedPurchase: Hashable, Sendable {
    let claim: Claim
    let appNumber: Int64
    /// The date of the last statement.
    package let statedAt: Timestamp
    /// Nil if the App Store has not revoked it.
    package let revocationDate: Timestamp?

    package var transactionIdentifier: String { claim.transactionIdentifier }
    package var originalTransactionIdentifier: String { claim.originalTransactionIdentifier }
    package var origin: Origin { claim.origin }
    /// The bundle identifier of the app.
    package var app: String { claim.app }
    package var productIdentifier: String { claim.productIdentifier }
    package var purchaseDate: Timestamp { claim.purchaseDate }
    /// The account token of the purchase, which no user has; nil without one.
    package var appAccountToken: UUID? { claim.appAccountToken }
    /// The granted item; nil for another product.
    package var item: Item? { claim.item }

    package var position: Position { Position(appNumber, origin.rawValue, transactionIdentifier) }

    /// The position of an unclaimed purchase: the number of its app, its origin and its transaction.
    package typealias Position = PagePosition<Int64, String, String>

    /// The position in the list with the newest statement first: its time in milliseconds, the origin and the transaction.
    package typealias TimePosition = PagePosition<Int64, String, String>
}

extension Claim {
    /// The product of a parked claim, from its JSON. One member takes a tenth of the time of all.
    fileprivate static func product(ofParked json: [UInt8]) throws -> String {
        struct Product: Decodable {
            let productIdentifier: String
        }
        return try JSONDecoder().decode(Product.self, from: Data(json)).productIdentifier
    }
}

extension LedgerTransaction {
    /// The purchases that nobody has redeemed, in the order of their transactions.
    ///
    /// - Parameters:
    ///   - identifier: A transaction or an original transaction; nil for all.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - last: The position of the last purchase of the previous page; nil for the first page.
    package func unclaimedPurchases(
        ofTransaction identifier: String?,
        in app: String? = nil,
        after last: UnclaimedPurchase.Position?,
        limit: Int
    ) throws -> [UnclaimedPurchase] {
        guard let app = try number(ofApp: app) else { return [] }
        let apps = try apps
        var arguments: [any SQLConvertible] = [
            SQLValue.packed(last?.third ?? ""), Origin.number(ofText: last?.second), last?.first ?? 0,
        ]
        var condition = ""
        if let identifier {
            condition =
                "AND transaction_id \(database.isIn(packed: "$4")) AND $5 IN (transaction_id, original_transaction_id)"
            let others = try database.rows(
                "SELECT transaction_id FROM parked_original WHERE original_transaction_id = $1",
                [SQLValue.packed(identifier)]
            ) { try $0.next() as String }
            arguments += [database.list(eachPacked: [identifier] + others), .packed(identifier)]
        }
        return try database.rows(
            """
            SELECT claim, app, stated_at, revocation_date FROM parked_transaction
            WHERE (transaction_id, origin, app) > ($1, $2, $3) \(database.isIn(app.number)) \(condition)
            ORDER BY transaction_id, origin, app LIMIT $\(arguments.count + 1)
            """,
            arguments + [limit]
        ) { row in
            let (claim, app): ([UInt8], Int64) = (try row.next(), try row.next())
            return UnclaimedPurchase(
                claim: try Claim(parked: claim, of: try apps.bundleIdentifier(of: app)), appNumber: app,
                statedAt: try row.next(), revocationDate: try row.next())
        }
    }

    /// The number of rows that a page of one product reads at most. A rare product may need several pages.
    private static let unclaimedWindow = 500

    /// The purchases that nobody has redeemed, the newest statement first.
    ///
    /// - Parameters:
    ///   - product: The identifier of a product; nil for all.
    ///   - app: The bundle identifier of an app; nil for all.
    ///   - day: The day of the last statement; nil for all.
    ///   - last: The position at which the previous page ended; nil for the first page.
    /// - Returns: A page, which may be empty before the last one, and its end; nil for the last page.
    package func newestUnclaimed(
        ofProduct product: String?,
        in app: String?,
        statedOn day: CalendarDay?,
        before last: UnclaimedPurchase.TimePosition?,
        limit: Int
    ) throws -> (purchases: [UnclaimedPurchase], next: UnclaimedPurchase.TimePosition?) {
        guard let app = try number(ofApp: app) else { return ([], nil) }
        let (apps, window) = (try apps, product == nil ? limit + 1 : Self.unclaimedWindow)
        let nextDay = day.map { $0.adding(days: 1).start.millisecondsSince1970 } ?? .max
        let rows = try database.rows(
            """
            SELECT claim, app, stated_at, revocation_date, origin, transaction_id FROM parked_transaction
            WHERE (stated_at, origin, transaction_id) < ($1, $2, $3) AND stated_at >= $4 \(database.isIn(app.number))
            ORDER BY stated_at DESC, origin DESC, transaction_id DESC LIMIT $5
            """,
            [
                last?.first ?? nextDay, Origin.number(ofText: last?.second), SQLValue.packed(last?.third ?? ""),
                day?.start ?? Timestamp(millisecondsSince1970: 0), window,
            ]
        ) { row in
            let (claim, app): ([UInt8], Int64) = (try row.next(), try row.next())
            let (statedAt, revocationDate): (Timestamp, Timestamp?) = (try row.next(), try row.next())
            return (
                claim: claim, app: app, revocationDate: revocationDate,
                position: UnclaimedPurchase.TimePosition(
                    statedAt.millisecondsSince1970, (try row.next() as Origin).rawValue, try row.next())
            )
        }
        var (purchases, end): ([UnclaimedPurchase], UnclaimedPurchase.TimePosition?) = ([], nil)
        for row in rows {
            guard purchases.count < limit else { return (purchases, end) }
            end = row.position
            if let product, try !Claim.product(ofParked: row.claim).hasSameBytes(as: product) { continue }
            purchases.append(
                UnclaimedPurchase(
                    claim: try Claim(parked: row.claim, of: try apps.bundleIdentifier(of: row.app)), appNumber: row.app,
                    statedAt: Timestamp(millisecondsSince1970: row.position.first),
                    revocationDate: row.revocationDate))
        }
        return (purchases, rows.count < window ? nil : end)
    }

    /// The claim of the newest unclaimed purchase of one of some products from some origins, except revoked ones.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    func newestUnclaimed(
        ofProducts products: [String],
        of origins: Set<Origin>,
        in app: Int64?,
        _ apps: AppNumbers
    ) throws -> Claim? {
        // A claim is a JSON text without an index. There are few unclaimed purchases.
        let rows = try database.rows(
            """
            SELECT claim, app FROM parked_transaction
            WHERE revocation_date IS NULL AND origin IN \(origins.sqlList) \(database.isIn(app))
            ORDER BY stated_at DESC, transaction_id, origin, app LIMIT 500
            """
        ) { (claim: try $0.next() as [UInt8], app: try $0.next() as Int64) }
        let known = Set(products.map { ByteKey($0) })
        return try rows.first { known.contains(ByteKey(try Claim.product(ofParked: $0.claim))) }.map {
            try Claim(parked: $0.claim, of: try apps.bundleIdentifier(of: $0.app))
        }
    }

    /// A transaction of each other line of the chain of an unclaimed purchase.
    fileprivate func unclaimedLines(beside purchase: UnclaimedPurchase) throws -> [UnclaimedPurchase] {
        try googleChain(of: purchase.originalTransactionIdentifier).compactMap { original in
            guard !original.hasSameBytes(as: purchase.originalTransactionIdentifier) else { return nil }
            return try unclaimedPurchases(ofTransaction: original, in: purchase.app, after: nil, limit: 100)
                .last { $0.origin == purchase.origin && $0.originalTransactionIdentifier.hasSameBytes(as: original) }
        }
    }
}

extension EntitlementService {
    /// The purchases that nobody has redeemed, in the order of their transactions.
    ///
    /// - Parameter identifier: A transaction, an original transaction or a purchase token; nil for all.
    package func unclaimedPurchases(
        ofTransaction identifier: String?,
        in app: String? = nil,
        after last: UnclaimedPurchase.Position?,
        limit: Int
    ) async throws -> [UnclaimedPurchase] {
        try await ledger.read { transaction in
            let identifiers: [String?] =
                try identifier.map { try transaction.identifiers(meantBy: $0).flatMap(transaction.googleOriginals) }
                ?? [nil]
            return try identifiers.flatMap {
                try transaction.unclaimedPurchases(
                    ofTransaction: $0, in: limitingApp ?? app, after: last, limit: limit)
            }
        }
    }
}

extension RedemptionDoor {
    /// Assigns an unclaimed purchase to a user, as if the user had redeemed it. At Google Play, the other unclaimed purchases under its token
    /// are assigned, too: whoever has the token presents all of them.
    ///
    /// - Parameters:
    ///   - origin: Nil if only one origin uses the identifier.
    ///   - app: The bundle identifier of the only app whose purchases are searched; nil for all apps.
    ///   - limitingApp: The bundle identifier of the only app that the caller sees; nil for all apps.
    ///   - caller: The identifier of the API key.
    /// - Throws: `AssignmentError`; `LedgerError.userBlocked`; `RedemptionError.userUnknown`.
    package func assign(
        unclaimed identifier: String,
        origin: Origin?,
        in app: String? = nil,
        seeing limitingApp: String? = nil,
        to user: User,
        reason: String,
        by caller: String
    ) async throws -> Redemption.Result {
        let (found, others) = try await entitlements.ledger.read {
            transaction -> ([UnclaimedPurchase], others: [UnclaimedPurchase]) in
            try transaction.requireName(of: user)
            let found = try transaction.unclaimedPurchases(ofTransaction: identifier, after: nil, limit: 100).filter {
                $0.transactionIdentifier.hasSameBytes(as: identifier) && (origin == nil || $0.origin == origin)
                    && (limitingApp ?? app)?.hasSameBytes(as: $0.app) ?? true
            }
            guard let first = found.first, found.count == 1 else { return (found, []) }
            return (found, try transaction.unclaimedLines(beside: first))
        }
        guard let parked = found.first?.claim else { throw AssignmentError.purchaseNotFound }
        guard found.count == 1 else { throw AssignmentError.purchaseAmbiguous }
        guard entitlements.accepted.origins(for: user).contains(parked.origin) else {
            throw AssignmentError.originNotAccepted(parked.origin)
        }
        let claims = ([parked] + others.map(\.claim)).map { claim in
            claim.valued(by: entitlements.catalogs[claim.app]?.benefit(of: claim.productIdentifier))
        }
        let request = RedemptionRequest(
            [], for: user, by: AuditActor(caller: caller), seeing: limitingApp, withItems: false, assignment: reason)
        let statement = Statement(.init(origin: parked.origin, claims: claims))
        // Somebody may redeem the purchase meanwhile. Then the decision refuses it.
        let lines = try await redeem(PresentedProof(request, statement), for: user).decision.lines
        guard let result = lines.first?.result else {
            throw BrokenInvariant("each claim has a result", parked.transactionIdentifier)
        }
        guard result.allowsFinish else { throw AssignmentError.refused(result) }
        return result
    }
}
