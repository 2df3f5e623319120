import Entitlements
import Proofs
import TestSupport
import Testing

/// The rules that compare a product of the catalog with its sales. The catalog sells `garden.gate` for 19.99 dollars, and
/// `garden.basic.monthly` for 4.99.
@Suite struct ProductComparisonRuleTests {
    struct Sale {
        var price: Int64?
        var storefront = "USA"
        var currency = "USD"
        var day: Int64 = 100
        var quantity = 1
        var facts: [TransactionFact: StatedValue] = [:]

        func sale(_ number: Int) -> ProductSale {
            var facts = facts
            if let price { facts[.price] = .integer(price) }
            facts[.currency] = .text(currency)
            facts[.storefront] = .text(storefront)
            return ProductSale(
                "\(number)", at: RuleFixture.now.adding(days: day), quantity: quantity, TransactionFacts(facts))
        }
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var product = "garden.gate"
        let sales: [Sale]
        var hasRecent = true
        let findings: [ComparedProduct.Finding]
        /// The prices, such as `USA 19990 USD, before 18990`.
        var prices: [String] = []
    }

    private static let month: [TransactionFact: StatedValue] = [
        .type: .text(ProductType.autoRenewableSubscription.rawValue)
    ]
    private static let renewal = month.merging([.transactionReason: .text("RENEWAL")]) { $1 }

    static let cases = [
        Case(
            testDescription: "a product that is sold for its price",
            sales: [Sale(price: 19_990)], findings: [], prices: ["USA 19990 USD"]),
        Case(testDescription: "a product that nobody buys", sales: [], findings: [.notSold]),
        Case(
            testDescription: "a product that nobody buys any more",
            sales: [Sale(price: 19_990, day: -1)], findings: [.notSold], prices: ["USA 19990 USD"]),
        Case(
            testDescription: "a product whose latest sales were not all read", sales: [], hasRecent: false, findings: []
        ),
        Case(
            testDescription: "a product that the catalog does not have",
            product: "garden.rake", sales: [Sale(price: 500, day: -400)], findings: [.unknown],
            prices: ["USA 500 USD"]),
        Case(
            testDescription: "another price in the catalog's storefront",
            sales: [Sale(price: 24_990)], findings: [.priceDiffers], prices: ["USA 24990 USD"]),
        Case(
            testDescription: "the price of another storefront is not compared with the catalog's",
            sales: [Sale(price: 21_000, storefront: "DEU", currency: "EUR")], findings: [],
            prices: ["DEU 21000 EUR"]),
        Case(
            testDescription: "a price that has changed in one of two storefronts",
            sales: [
                Sale(price: 19_990), Sale(price: 21_000, storefront: "DEU", currency: "EUR", day: 3),
                Sale(price: 19_000, storefront: "DEU", currency: "EUR", day: 1),
                Sale(price: 18_000, storefront: "DEU", currency: "EUR", day: 0),
            ],
            findings: [.priceChanged], prices: ["DEU 21000 EUR, before 19000", "USA 19990 USD"]),
        Case(
            testDescription: "the price of several units is that of one",
            sales: [Sale(price: 39_980, quantity: 2)], findings: [], prices: ["USA 19990 USD"]),
        Case(
            testDescription: "offers, shared purchases and parts of a commitment have prices of their own",
            product: "garden.basic.monthly",
            sales: [
                Sale(price: 0, facts: month.merging([.offerDiscountType: .text("FREE_TRIAL")]) { $1 }),
                Sale(price: 990, facts: month.merging([.offerType: .integer(2)]) { $1 }),
                Sale(price: 0, facts: month.merging([.inAppOwnershipType: .text("FAMILY_SHARED")]) { $1 }),
                Sale(price: 400, facts: month.merging([.billingPlanType: .text("MONTHLY")]) { $1 }),
                Sale(price: 300, facts: month.merging([.advancedCommerceInfo: .text("{}")]) { $1 }),
            ],
            findings: []),
        Case(
            testDescription: "the price of a seat is that of the subscription",
            product: "garden.basic.monthly", sales: [Sale(price: 4990, quantity: 5, facts: month)], findings: [],
            prices: ["USA 4990 USD"]),
        Case(
            testDescription: "a preserved price of renewals is no change",
            product: "garden.basic.monthly",
            sales: [Sale(price: 4990, day: 1, facts: month), Sale(price: 3990, day: 2, facts: renewal)], findings: [],
            prices: ["USA 4990 USD"]),
        Case(
            testDescription: "renewals alone tell the price",
            product: "garden.basic.monthly",
            sales: [Sale(price: 5990, day: 2, facts: renewal), Sale(price: 4990, day: 1, facts: renewal)],
            findings: [.priceDiffers, .priceChanged], prices: ["USA 5990 USD, before 4990"]),
        Case(
            testDescription: "a sale without a stated price is a sale", sales: [Sale()], findings: []),
    ]

    @Test(arguments: cases) func `a product is compared with its sales`(_ example: Case) throws {
        let catalog = try TestGarden().catalog
        let comparison = ProductComparison(of: catalog, soldBy: [.appleProduction], in: 0, until: RuleFixture.now)
        let sales = example.sales.enumerated().map { $1.sale($0) }
        for sales in [sales, sales.reversed()] {
            let compared = try #require(
                comparison.product(example.product, sold: sales, hasRecent: example.hasRecent))
            #expect(compared.findings == example.findings)
            #expect(compared.last == sales.max())
            let prices = compared.prices.map { sold in
                "\(sold.storefront) \(sold.price.milliunits) \(sold.price.currency)"
                    + (sold.former.map { ", before \($0.price.milliunits)" } ?? "")
            }
            #expect(prices == example.prices)
        }
    }

    @Test func `a product that neither the catalog nor a sale has is none`() throws {
        let comparison = ProductComparison(
            of: try TestGarden().catalog, soldBy: [.appleProduction], in: 0, until: RuleFixture.now)
        #expect(comparison.product("garden.rake", sold: [], hasRecent: true) == nil)
    }
}
