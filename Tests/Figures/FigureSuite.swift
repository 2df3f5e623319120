import Entitlements
import Features
import Proofs
import Testing

/// The expected value of a metric on a day.
struct Expected: Hashable {
    let date: String
    let metric: FigureMetric
    let amount: Int64
}

/// The shared functions of the tests of figures.
protocol FigureSuite {}

extension FigureSuite {
    static var app: Int64 { 1 }

    static func moment(_ text: String) throws -> Timestamp {
        try #require(Timestamp(rfc3339: text.count == 10 ? text + "T12:00:00Z" : text))
    }

    static func transaction(
        _ identifier: String,
        of original: String = "1",
        origin: Origin = .appleProduction,
        product: String = "monthly",
        quantity: Int = 1,
        bought: String,
        expires: String? = nil,
        graceEnds: String? = nil,
        refunded: String? = nil,
        price: Int64? = 4_990,
        storefront: String? = "DEU",
        facts: [TransactionFact: StatedValue] = [:]
    ) throws -> RedeemedTransaction {
        var stated = facts
        if expires != nil { stated[.type] = .text(ProductType.autoRenewableSubscription.rawValue) }
        if let price { (stated[.price], stated[.currency]) = (.integer(price), .text("EUR")) }
        if let storefront { stated[.storefront] = .text(storefront) }
        return RedeemedTransaction(
            sequence: 1, origin: origin, transactionIdentifier: identifier,
            originalTransactionIdentifier: original, productIdentifier: product, quantity: quantity,
            purchaseDate: try moment(bought), redeemedAt: try moment(bought),
            revocationDate: try refunded.map(moment),
            appNumber: app, expiresAt: try expires.map(moment), graceEndsAt: try graceEnds.map(moment),
            facts: TransactionFacts(stated))
    }

    static var trial: [TransactionFact: StatedValue] {
        [.offerType: .integer(1), .offerDiscountType: .text(OfferDiscountType.freeTrial.rawValue)]
    }

    /// The sums of all products, storefronts and currencies.
    func totals(_ transactions: [RedeemedTransaction]) -> Set<Expected> {
        var totals: [String: [FigureMetric: Int64]] = [:]
        for (key, amount) in UserFigures.sums(of: transactions).amounts {
            totals[key.day.description, default: [:]][key.metric, default: 0] += amount
        }
        return Set(
            totals.flatMap { date, amounts in
                amounts.filter { $0.value != 0 }.map { Expected(date: date, metric: $0.key, amount: $0.value) }
            })
    }

    func check(
        _ transactions: [RedeemedTransaction],
        _ expected: [(date: String, metric: FigureMetric, amount: Int64)],
        only metrics: Set<FigureMetric> = Set(FigureMetric.allCases),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = totals(transactions).filter { metrics.contains($0.metric) }
        let wanted = Set(expected.map { Expected(date: $0.date, metric: $0.metric, amount: $0.amount) })
        #expect(found == wanted, sourceLocation: sourceLocation)
    }
}
