import AppStore
import HTTPSupport
import Proofs
import Testing

/// The result of a payment from an account with earlier purchases.
@Suite struct PurchaseRuleTests {
    private static let offer = Payment.OfferChoice(kind: .promotional, identifier: "spring")

    @Test(
        arguments: [
            ("seeds", 1, nil, [], "charge 990"),
            ("seeds", 3, nil, [RuleFixture.transaction(of: "seeds", type: .consumable)], "charge 2970"),
            ("season", 1, nil, [RuleFixture.transaction(of: "season", type: .nonRenewingSubscription)], "charge 4990"),
            ("basic.monthly", 1, nil, [], "subscribe"), ("basic.monthly", 1, offer, [], "subscribe"),
            // A non-consumable that the account owns.
            ("gate", 1, nil, [], "charge 19990"),
            ("gate", 1, nil, [RuleFixture.transaction("7"), RuleFixture.transaction("8", original: "7")], "again 7"),
            ("gate", 1, nil, [RuleFixture.transaction("7", revoked: .refundFull)], "charge 19990"),
            ("gate", 1, nil, [RuleFixture.transaction("7", of: "fence")], "charge 19990"),
            // Payments that fail.
            ("gate", 1, offer, [], "fail invalidOfferIdentifier"),
            ("fence", 1, nil, [], "fail storeProductNotAvailable"),
        ] as [(String, Int, Payment.OfferChoice?, [Transaction], String)])
    func `a payment buys, buys again or fails`(
        name: String,
        quantity: Int,
        offer: Payment.OfferChoice?,
        history: [Transaction],
        expected: String
    ) throws {
        let payment = Payment(productIdentifier: "garden.\(name)", quantity: quantity, offer: offer)
        let product = try RuleFixture().configuration.product(payment.productIdentifier)
        let decision = PurchaseDecision(payment, for: product, history: history, currency: "KRW")
        switch decision {
        case .fail(let error): #expect("fail \(error.name)" == expected)
        case .subscribe(let product, let subscription):
            #expect(expected == "subscribe")
            #expect(product.subscription == subscription)
        case .buyAgain(let original): #expect("again \(original.transactionIdentifier)" == expected)
        case .charge(_, let price):
            #expect("charge \(price.milliunits)" == expected)
            #expect(price.currency == "KRW")
        case .change: Issue.record("No payment changes a subscription.")
        }
    }

    /// Only `basic.yearly` has a monthly plan.
    @Test(arguments: [("basic.yearly", true), ("basic.monthly", false), ("seeds", false)])
    func `a monthly plan is sold if the product has one`(name: String, isSold: Bool) throws {
        let payment = Payment(productIdentifier: "garden.\(name)", billingPlanType: .monthly)
        let product = try RuleFixture().configuration.product(payment.productIdentifier)
        let decision = PurchaseDecision(payment, for: product, history: [], currency: "EUR")
        #expect((decision != .fail(.storeProductNotAvailable)) == isSold)
    }

    private static func charge(_ terms: AdvancedCommerceCharge.Terms? = nil) -> AdvancedCommerceCharge {
        AdvancedCommerceCharge(
            items: ["bench", "shears"].prefix(terms == nil ? 1 : 2).map {
                .init(sku: $0, displayName: $0, description: "In the garden", price: 9990)
            }, terms: terms, currency: "EUR", taxCode: "C003-00-2",
            requestReferenceIdentifier: "7f3c2a10-5b1e-4c8d-9a6f-2d4e8b0c1a35")
    }

    @Test(
        arguments: [
            ("basic.yearly", nil, true), ("basic.monthly", .upFront, true), ("basic.yearly", .monthly, false),
            ("seeds", nil, false),
        ] as [(String, BillingPlanType?, Bool)])
    func `a subscription that the developer describes is sold as a generic one`(
        name: String,
        plan: BillingPlanType?,
        isSold: Bool
    ) throws {
        let charge = Self.charge(.init(displayName: "Tools", description: "All tools", period: .oneMonth))
        let payment = Payment(productIdentifier: "garden.\(name)", billingPlanType: plan).with(charge)
        let generic = try RuleFixture().configuration.product(payment.productIdentifier)
        let decision = PurchaseDecision(payment, for: generic, history: [], currency: "EUR")
        guard case .subscribe(let product, let subscription) = decision else {
            #expect(!isSold && decision == .fail(.paymentInvalid))
            return
        }
        #expect(
            isSold && product.productIdentifier == payment.productIdentifier && product.subscription == subscription)
        #expect((product.price.milliunits, subscription.period) == (19_980, .oneMonth))
        #expect(subscription.groupIdentifier == generic?.subscription?.groupIdentifier)
        #expect(subscription.offers.isEmpty && subscription.billingPlans.isEmpty && !subscription.multiSeat.isEnabled)
        #expect(!product.isFamilyShareable)
    }

    /// The price is the developer's, and the generic product of subscriptions is none of one-time charges.
    @Test(
        arguments: [
            ("seeds", []), ("gate", [RuleFixture.transaction("7")]), ("season", []), ("basic.monthly", nil),
        ] as [(String, [Transaction]?)])
    func `a charge that the developer describes is sold as a generic product`(
        name: String, history: [Transaction]?
    ) throws {
        let charge = Self.charge()
        let payment = Payment(productIdentifier: "garden.\(name)").with(charge)
        let product = try RuleFixture().configuration.product(payment.productIdentifier)
        let decision = PurchaseDecision(payment, for: product, history: history ?? [], currency: "EUR")
        if history == nil {
            #expect(decision == .fail(.paymentInvalid))
        } else {
            #expect(decision == .charge(try #require(product), charge.price))
        }
    }

    @Test func `a purchase that is repeated costs nothing and refers to the original`() {
        let original = RuleFixture.transaction("7")
        let repeated = original.repeated(transactionIdentifier: "8", at: RuleFixture.day(3))
        #expect(repeated.transactionIdentifier == "8")
        #expect(repeated.originalTransactionIdentifier == "7")
        #expect(repeated.price == Price(milliunits: 0, currency: "USD"))
        #expect(repeated.purchaseDate == RuleFixture.day(3))
        #expect(repeated.originalPurchaseDate == RuleFixture.now)
        #expect(repeated.orderIdentifier == original.orderIdentifier)
    }
}
