import Catalog
import Entitlements
import HTTPSupport
import Logging
import Proofs

/// The stores that a service asks, and the notifications of those that make it ask.
package struct StoreClients: Sendable {
    /// Signs a promotional offer: the identifiers of the product and the offer, the account token or an empty string, and the moment.
    package typealias OfferSigner = @Sendable (String, String, String, Timestamp) throws -> PromotionalOfferSignature

    /// The clients of the App Stores that know the order numbers on receipts.
    package var orders: [AppStoreServerClient] = []
    /// The App Stores with the apps and origins of their purchases.
    package var appStores: [Reconciler] = []
    /// The signers of promotional offers, by the bundle identifier of the app.
    package var offerSigners: [ByteKey: OfferSigner] = [:]
    /// The apps on Google Play about whose purchases the service asks.
    package var googlePlay: GooglePlayApps = []
    /// The notifications of Google Play; nil to receive none.
    package var playNotifications: GooglePlayNotifications?
    /// The stores that Till does not come with.
    package var others: [any RedemptionDoor.Store] = []
    /// The duties that the service has taken on. Those of each app on Google Play are among them.
    package var duties: StoreDuties
    /// The log of refusals that are not recorded.
    package var logger = Logger(label: "till", factory: { _ in SwiftLogNoOpLogHandler() })

    package init(googlePlay: GooglePlayApps = [], playNotifications: GooglePlayNotifications? = nil) {
        (self.googlePlay, self.playNotifications) = (googlePlay, playNotifications)
        let origins = Set(googlePlay.flatMap(\.purchases.origins))
        duties =
            origins.isEmpty
            ? [:] : StoreDuties(uniqueKeysWithValues: StoreDuty.Kind.ofGooglePlay.map { ($0, origins) })
    }

    package func door(of entitlements: EntitlementService, counting metrics: ServiceMetrics) -> RedemptionDoor {
        RedemptionDoor(entitlements, asking: googlePlay, and: others, counting: metrics, logger: logger)
    }
}
