import Catalog
import Proofs

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

    /// The facts that a sale depends on.
    package static let facts =
        PurchasePeriod.Terms.facts + [.price, .currency, .storefront, .transactionReason, .billingPlanType] + others

    /// The facts of transactions with a price of their own.
    private static let others: [TransactionFact] = [.offerIdentifier, .advancedCommerceInfo, .multiSeatInfo]

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
