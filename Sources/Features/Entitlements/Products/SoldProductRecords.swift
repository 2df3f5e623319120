import Catalog
import Ledger
import Proofs

/// The products that the App Store has sold: redeemed purchases, purchases of notifications that nobody has redeemed, and
/// purchases that were refused because the catalog does not have the product.
extension LedgerTransaction {
    /// The number of the latest transactions of a product that are compared.
    private static let maximumSales = 200
    /// The number of the latest unclaimed purchases, and of the latest refusals, that are compared.
    private static let maximumUnredeemed = 500

    /// The products of a catalog and those that the App Store has sold, in the order of their identifiers.
    ///
    /// Each product takes two statements, which read a bounded part of one index.
    ///
    /// - Parameter last: The last product of the previous page; nil for the first page.
    package func comparedProducts(
        by comparison: ProductComparison,
        after last: String?,
        limit: Int
    ) throws -> [ComparedProduct] {
        let unredeemed = try unredeemedSales(comparison)
        var known = Set(comparison.catalog.products.map { ByteKey($0.productIdentifier) }).union(unredeemed.keys)
            .filter { product in last.map { product > ByteKey($0) } ?? true }.sorted()[...]
        var redeemed = try productRedeemed(after: last ?? "")
        var compared: [ComparedProduct] = []
        while compared.count < limit {
            guard let next = [known.first, redeemed].compactMap(\.self).min() else { break }
            if known.first == next { known.removeFirst() }
            var (sales, hasRecent): ([ProductSale], Bool) = ([], true)
            if redeemed == next {
                (sales, hasRecent) = try self.sales(ofProduct: next.text, comparison)
                redeemed = try productRedeemed(after: next.text)
            }
            let product = comparison.product(
                next.text, sold: sales + (unredeemed[next] ?? []), hasRecent: hasRecent)
            if let product { compared.append(product) }
        }
        return compared
    }

    /// The first product with a redeemed transaction after another one.
    private func productRedeemed(after product: String) throws -> ByteKey? {
        // Each statement skips the other transactions of a product.
        let next: String? = try database.value(
            "SELECT product_id FROM redeemed_transaction WHERE product_id > $1 ORDER BY product_id LIMIT 1", [product])
        return next.map { ByteKey($0) }
    }

    private static let factColumns = ProductSale.facts.map(\.field.column).joined(separator: ", ")

    /// The latest redeemed sales of a product.
    ///
    /// - Returns: The sales, and true if they include each one since the moment of the comparison.
    private func sales(
        ofProduct product: String,
        _ comparison: ProductComparison
    ) throws -> (sales: [ProductSale], hasRecent: Bool) {
        let app = try apps[comparison.catalog.bundleIdentifier]
        var (sales, read, oldest): ([ProductSale], Int, Timestamp?) = ([], 0, nil)
        try database.forEachRow(
            """
            SELECT redeemed_at, app, origin, transaction_id, purchase_date, quantity, \(Self.factColumns)
            FROM redeemed_transaction WHERE product_id = $1
            ORDER BY redeemed_at DESC, user_id DESC, sequence DESC LIMIT $2
            """,
            [product, Self.maximumSales]
        ) { row in
            read += 1
            oldest = try row.next() as Timestamp
            let (soldIn, origin): (Int64, Origin) = (try row.next(), try row.next())
            guard soldIn == app, comparison.origins.contains(origin) else { return }
            let identifier: String = try row.next()
            let (soldAt, quantity): (Timestamp, Int) = (try row.next(), try row.next())
            sales.append(
                ProductSale(identifier, at: soldAt, quantity: quantity, try TransactionFacts(&row, ProductSale.facts)))
        }
        return (sales, read < Self.maximumSales || oldest.map { $0 < comparison.since } ?? true)
    }

    /// The latest sales that nobody has redeemed, by their products.
    private func unredeemedSales(_ comparison: ProductComparison) throws -> [ByteKey: [ProductSale]] {
        let (app, apps) = (comparison.catalog.bundleIdentifier, try apps)
        var sales: [ByteKey: [ProductSale]] = [:]
        try database.forEachRow(
            """
            SELECT claim, app, origin FROM parked_transaction
            ORDER BY stated_at DESC, transaction_id, origin, app LIMIT $1
            """,
            [Self.maximumUnredeemed]
        ) { row in
            let (json, soldIn): ([UInt8], Int64) = (try row.next(), try row.next())
            guard soldIn == apps[app], comparison.origins.contains(try row.next()) else { return }
            let claim = try Claim(parked: json, of: app)
            sales[ByteKey(claim.productIdentifier), default: []].append(
                ProductSale(
                    claim.transactionIdentifier, at: claim.purchaseDate, quantity: claim.quantity,
                    claim.facts ?? TransactionFacts()))
        }
        let unknown = Redemption.Result.productUnknown.rawValue
        for refusal in try refusals(of: unknown, before: nil, limit: Self.maximumUnredeemed) {
            let entry = refusal.entry
            guard entry.app?.hasSameBytes(as: app) ?? false, entry.origin.map(comparison.origins.contains) ?? false
            else { continue }
            sales[ByteKey(entry.subject), default: []].append(ProductSale(entry.reference, at: entry.happenedAt))
        }
        return sales
    }
}

extension EntitlementService {
    /// The products of an app's catalog and those that the App Store has sold, in the order of their identifiers.
    ///
    /// - Parameters:
    ///   - days: The number of days in which a product should have been sold.
    ///   - last: The last product of the previous page; nil for the first page.
    package func comparedProducts(
        of app: App,
        soldBy origins: Set<Origin>,
        days: Int64,
        after last: String?,
        limit: Int
    ) async throws -> [ComparedProduct] {
        let comparison = ProductComparison(of: app.catalog, soldBy: origins, in: days, until: clock.now())
        return try await ledger.read(.longSnapshot) {
            try $0.comparedProducts(by: comparison, after: last, limit: limit)
        }
    }
}
