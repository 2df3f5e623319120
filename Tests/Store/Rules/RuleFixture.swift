import AppStore
import Catalog
import Proofs
import TestSupport
import Testing

/// Products, transactions and subscriptions for the tests of the rules, without a store.
struct RuleFixture {
    /// 21 September 2026; a month later is 30 days later.
    static let now = Timestamp(secondsSince1970: 1_790_000_000)

    static func day(_ number: Int64) -> Timestamp { now.adding(days: number) }

    let configuration: StoreKitConfiguration

    init() throws {
        configuration = try StoreKitConfiguration(file: TestGarden.file.path)
    }

    /// A product of the garden, such as `seeds`.
    func product(_ name: String) throws -> Product { try #require(configuration.product("garden.\(name)")) }

    func terms(
        day: Int64 = 0,
        isBillingFailing: Bool = false,
        isGracePeriodEnabled: Bool = false
    ) -> SubscriptionTerms {
        var settings = StoreSettings(configuration)
        settings.timeRate = .realTime
        settings.shouldEnterBillingRetryOnRenewal = isBillingFailing
        settings.isBillingGracePeriodEnabled = isGracePeriodEnabled
        return settings.terms(of: configuration, at: Self.day(day))
    }

    /// Alice's subscription, bought on day 0 at the standard price.
    func subscription(_ name: String = "basic.monthly") throws -> CustomerSubscription {
        let product = try product(name)
        return CustomerSubscription.first(
            product, try #require(product.subscription), offer: nil, originalTransactionIdentifier: "1",
            account: "alice", terms()
        ).0
    }

    static func transaction(
        _ identifier: String = "1",
        original: String? = nil,
        of name: String = "gate",
        type: ProductType = .nonConsumable,
        ownership: InAppOwnershipType = .purchased,
        revoked: RevocationType? = nil
    ) -> Transaction {
        var transaction = Transaction(
            identifier, orderIdentifier: "M1", account: "alice", productIdentifier: "garden.\(name)", type: type,
            price: Price(milliunits: 990, currency: "USD"), storefrontCountryCode: "USA", at: now)
        transaction.originalTransactionIdentifier = original ?? identifier
        transaction.ownership = ownership
        if let revoked { transaction.revoke(revoked, for: .refundedForOtherReason, at: now) }
        return transaction
    }
}
