import Catalog
import Ledger
import Proofs
import Vocabulary

/// The rule that compares the products of a catalog with those that the App Store has sold.
package final class ProductComparison: Sendable {
    /// The number of days in which a product should have been sold.
    package static let standardDays: Int64 = 90
    package static let days: ClosedRange<Int64> = 1...3650

    let catalog: Catalog
    /// The origins of the compared sales.
    let origins: Set<Origin>
    /// The moment since which a product should have been sold.
    let since: Timestamp

    /// - Parameters:
    ///   - catalog: The present catalog of the app.
    ///   - origins: The origins of the compared sales.
    ///   - days: The number of days until the moment in which a product should have been sold.
    package init(of catalog: Catalog, soldBy origins: Set<Origin>, in days: Int64, until moment: Timestamp) {
        self.catalog = catalog
        self.origins = origins
        since = moment.adding(days: -days)
    }

    /// The comparison of one product; nil if neither the catalog nor a sale has it.
    ///
    /// - Parameters:
    ///   - sales: The latest sales, in any order.
    ///   - hasRecent: True if they include each sale since the moment.
    package func product(_ identifier: String, sold sales: [ProductSale], hasRecent: Bool) -> ComparedProduct? {
        let known = catalog.product(identifier)
        guard known != nil || !sales.isEmpty else { return nil }
        let (storefront, last) = (catalog.storefront.countryCode, sales.max())
        let prices = SoldPrice.all(of: sales)
        let sold = prices.first { $0.storefront == storefront }
        let isWithdrawn = catalog.isWithdrawn(identifier)
        var findings: [ComparedProduct.Finding] = []
        if known == nil { findings.append(.unknown) }
        if let known, let sold, sold.price != known.price { findings.append(.priceDiffers) }
        if prices.contains(where: { $0.former != nil }) { findings.append(.priceChanged) }
        if known != nil, !isWithdrawn, hasRecent, last.map({ $0.soldAt < since }) ?? true { findings.append(.notSold) }
        return ComparedProduct(
            productIdentifier: identifier, app: catalog.bundleIdentifier,
            catalogPrice: known.map { .init(storefront: storefront, price: $0.price) }, isWithdrawn: isWithdrawn,
            last: last, prices: prices, findings: findings)
    }
}

/// A product of a catalog, or one that the App Store has sold, with the differences between both.
package struct ComparedProduct: Hashable, Sendable {
    package enum Finding: String, CaseIterable, Sendable {
        /// The App Store has sold the product, and the catalog does not have it.
        case unknown
        /// The latest price in the catalog's storefront is not the catalog's.
        case priceDiffers
        /// The latest sales in a storefront have two prices.
        case priceChanged
        /// The catalog sells the product, and nobody has bought it since the moment.
        case notSold
    }

    package struct CatalogPrice: Hashable, Sendable {
        /// The country of the catalog's storefront, such as `KOR`.
        package let storefront: String
        package let price: Price
    }

    package let productIdentifier: String
    /// The bundle identifier of the app.
    package let app: String
    /// Nil for a product that the catalog does not have.
    package let catalogPrice: CatalogPrice?
    package let isWithdrawn: Bool
    /// The latest of the compared sales; nil without one.
    package let last: ProductSale?
    /// The latest regular prices, in the order of the storefronts.
    package let prices: [SoldPrice]
    /// In the order of their cases.
    package let findings: [Finding]
}

/// A sale of a product, as the App Store has stated it.
package struct ProductSale: Hashable, Sendable {
    package let transactionIdentifier: String
    /// The purchase date; the time of the refusal for a refused purchase.
    package let soldAt: Timestamp
    /// The country of the App Store, such as `KOR`; nil if it is not stated.
    let storefront: String?
    /// The regular price of one unit; nil for another price, such as that of an offer, and if none is stated.
    let price: Price?
    /// True for the renewal of a subscription, whose price the App Store may have preserved.
    let isRenewal: Bool

    package static let facts =
        PurchasePeriod.Terms.facts + [.price, .currency, .storefront, .transactionReason, .billingPlanType] + others

    /// The facts of transactions with a price of their own.
    private static let others: [TransactionFact] = [
        .offerIdentifier, .advancedCommerceInfo, .multiSeatInfo, .pointsDetails,
    ]

    package init(
        _ transactionIdentifier: String,
        at soldAt: Timestamp,
        quantity: Int = 1,
        _ facts: TransactionFacts = TransactionFacts()
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.soldAt = soldAt
        storefront = facts.text(.storefront)
        price = Self.regularPrice(of: quantity, facts)
        isRenewal = facts.text(.transactionReason) == "RENEWAL"
    }

    /// The price that a customer without an offer pays for one unit.
    ///
    /// The stated price of a subscription is that of one seat. The price of another purchase is that of its whole quantity
    /// (`Payments.swift`). A monthly payment of a commitment is a part of the price.
    private static func regularPrice(of quantity: Int, _ facts: TransactionFacts) -> Price? {
        let terms = PurchasePeriod.Terms(facts)
        guard let amount = facts.integer(.price), let currency = facts.text(.currency), quantity > 0,
            !terms.isTrial, !terms.isIntroductory, !terms.isPaidByAnother, !terms.isAdditional,
            facts[.offerType] == nil, others.allSatisfy({ facts[$0] == nil }),
            facts.text(.billingPlanType) != "MONTHLY"
        else { return nil }
        let units = terms.type == .autoRenewableSubscription ? 1 : Int64(quantity)
        return amount % units == 0 ? Price(milliunits: amount / units, currency: currency) : nil
    }
}

/// Orders sales by time, then by the bytes of their transactions.
extension ProductSale: Comparable {
    package static func < (left: ProductSale, right: ProductSale) -> Bool {
        (left.soldAt, ByteKey(left.transactionIdentifier)) < (right.soldAt, ByteKey(right.transactionIdentifier))
    }
}

/// The regular price of a product in a storefront, by its latest sales.
package struct SoldPrice: Hashable, Sendable {
    /// A price before the latest one, and its latest sale.
    package struct Former: Hashable, Sendable {
        package let price: Price
        package let soldAt: Timestamp
    }

    /// The country of the storefront, such as `KOR`.
    package let storefront: String
    package let price: Price
    /// The latest sale for this price.
    package let soldAt: Timestamp
    /// Nil if the compared sales have one price.
    package let former: Former?

    /// The prices of sales, in the order of the storefronts.
    ///
    /// Customers whose price the App Store has preserved renew for less than a new customer pays. So renewals count only where
    /// nothing else was sold.
    static func all(of sales: [ProductSale]) -> [SoldPrice] {
        let sold = sales.filter { $0.price != nil && $0.storefront != nil }
        return Dictionary(grouping: sold, by: { ByteKey($0.storefront ?? "") }).compactMap { storefront, sales in
            let purchases = sales.filter { !$0.isRenewal }
            let latest = (purchases.isEmpty ? sales : purchases).sorted(by: >)
            guard let last = latest.first, let price = last.price else { return nil }
            let former = latest.first { $0.price != price }.flatMap { sale in
                sale.price.map { Former(price: $0, soldAt: sale.soldAt) }
            }
            return SoldPrice(storefront: storefront.text, price: price, soldAt: last.soldAt, former: former)
        }.sorted { ByteKey($0.storefront) < ByteKey($1.storefront) }
    }
}

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
        // Only a redeemed product has a number.
        let next: String? = try database.value(
            "SELECT product_id FROM product WHERE product_id > $1 ORDER BY product_id LIMIT 1", [product])
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
            FROM redeemed_transaction WHERE product = \(ProductRecords.number(of: "$1"))
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
