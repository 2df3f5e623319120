import AppStore
import Entitlements
import Features
import HTTPSupport
import Ledger
import PlayStore
import Proofs
import Vocabulary

/// The parts of the service behind the console's pages, and what the console alone shows of the running one. The command line
/// supplies them. A page whose feature is off is not shown.
@dynamicMemberLookup
package protocol ConsoleServices: Sendable {
    /// The parts of the service, which a page names directly, as in `services.figures`.
    var till: Till { get }
    /// The people who log in to the console.
    var team: TeamService { get }
    /// The door to purchases, through which the local stores redeem, too.
    var door: RedemptionDoor { get }
    var keys: APIKeys { get }
    /// The local App Store in this process. Nil for none, as in production.
    var store: Store? { get }
    /// The local Google Play in this process. Nil for none, as in production.
    var play: GooglePlay? { get }
    /// The counters of the service's work since its start.
    var metrics: ServiceMetrics { get }
    /// The state of the installation and of the running service.
    var health: any HealthSource { get }
    var answersConsumptionRequests: Bool { get }
    /// The duties to stores that the service has taken on.
    var duties: StoreDuties { get }
    /// The reconciliations with the App Store: one for each app and address; none without a key.
    var reconciliations: [any ConsoleReconciliation] { get }
    /// Returns the last list of voided purchases of each app on Google Play; none without a service account.
    var voidedPurchases: @Sendable () async throws -> [VoidedPurchases] { get }
    /// Returns the transactions of an order. Nil without a client of an App Store that knows orders.
    var orders: (@Sendable (String) async throws -> [(transaction: String, original: String)])? { get }

    /// Sends a test message to an endpoint, once. Nil if webhooks are off.
    var testWebhook: (@Sendable (WebhookEndpoint) async throws -> WebhookDelivery.Outcome)? { get }

    /// Returns all data of a user as JSON, or nil for an unknown user.
    func export(_ user: User) async throws -> [UInt8]?
}

extension ConsoleServices {
    package subscript<Part>(dynamicMember part: KeyPath<Till.Parts, Part>) -> Part { till[dynamicMember: part] }

    var ledger: Ledger { till.ledger }

    var randomness: Randomness { .system }

    var names: CatalogNames { CatalogNames(catalogs: till.entitlements.catalogs) }

    var appNames: [String] { till.entitlements.apps.all.map(\.bundleIdentifier) }

    /// The environment of the sales that matter, which also has what the team gives. A service with a local store of another
    /// environment has no production.
    var standardEnvironment: FigureQuery.Environment {
        store.map { $0.environment != .production } ?? false ? .sandbox : .production
    }

    /// The entries of the navigation that this service has.
    var sections: [ConsoleSection] {
        ConsoleSection.allCases.filter { section in
            switch section {
            case .figures: till.figures != nil
            case .webhooks: till.webhooks != nil
            case .localStore: store != nil
            case .localPlay: play != nil
            default: true
            }
        }
    }
}
