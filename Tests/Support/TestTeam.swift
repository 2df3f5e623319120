import AppStore
import Catalog
import HTTPSupport
import Proofs
import Testing

/// An app with one subscription, whose seats the app's server claims, in a store whose time the test controls.
package struct TestTeam: Sendable {
    package static let product = "team.monthly"
    /// Eight seats are five at 9.99 and three at 7.99; from the ninth on, a seat costs 5.99.
    package static let tiers = """
        , "multiSeat": {"invitationManagement": "DEVELOPER", "priceTiers": [
            {"minimumQuantity": 6, "displayPrice": "7.99"}, {"minimumQuantity": 9, "displayPrice": "5.99"}]}
        """

    package let folder: TemporaryFolder
    package let clock: ManualClock
    package let store: Store

    /// - Parameters:
    ///   - multiSeat: The member of the subscription's entry, after a comma.
    ///   - isShareable: True if a family can share the subscription.
    package init(
        _ multiSeat: String = Self.tiers, isShareable: Bool = false, environment: AppStoreEnvironment = .sandbox
    ) throws {
        folder = try TemporaryFolder()
        try TestShop.installKeys(in: folder.folder("store"))
        clock = ManualClock(try #require(Timestamp(rfc3339: "2026-10-31T12:00:00Z")))
        store = try Store(
            folder: folder.folder("store"), bundleIdentifier: TestGarden.bundleIdentifier,
            configuration: try Self.configuration(multiSeat, isShareable: isShareable), environment: environment,
            appAppleIdentifier: 1, clock: clock, randomness: .seeded(7))
    }

    /// Buys seats.
    ///
    /// - Returns: The transaction identifier.
    package func buy(_ quantity: Int, account: String = "alice") throws -> String {
        let added = try store.add(Payment(productIdentifier: Self.product, quantity: quantity), account: account)
        let processed = try store.process(account: account).first { $0.identifier == added.identifier }
        return try #require(processed?.purchase).transactionIdentifier
    }

    /// A configuration of one subscription.
    package static func configuration(
        _ multiSeat: String, isShareable: Bool = false
    ) throws -> StoreKitConfiguration {
        let text = """
            {
              "identifier": "1", "settings": {"_storefront": "USA"}, "products": [], "nonRenewingSubscriptions": [],
              "subscriptionGroups": [{
                "id": "2", "localizations": [], "name": "Team",
                "subscriptions": [{
                  "adHocOffers": [], "codeOffers": [], "displayPrice": "9.99", "familyShareable": \(isShareable),
                  "groupNumber": 1, "internalID": "3", "introductoryOffer": null, "localizations": [],
                  "productID": "team.monthly", "recurringSubscriptionPeriod": "P1M", "referenceName": "Team",
                  "subscriptionGroupID": "2", "type": "RecurringSubscription"\(multiSeat)
                }]
              }],
              "version": {"major": 4, "minor": 0}
            }
            """
        return try StoreKitConfiguration(json: Array(text.utf8), file: "f")
    }
}
