import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// A service over an empty ledger that asks a local Google Play, some of whose answers a test gives.
struct PlayGarden {
    let server: PlayServer
    let entitlements: EntitlementService
    let app: GooglePlayApp
    private let lines = LogLines()
    let alice: User
    private let garden: TestGarden

    init() async throws {
        server = try await PlayServer()
        garden = try TestGarden(isInMemory: true)
        alice = try #require(User(name: "alice"))
        let app = App(garden.catalog)
        entitlements = EntitlementService(
            apps: Apps(app), verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: server.clock),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: server.clock,
            accepted: AcceptedOrigins([.localPlayProduction]))
        self.app = GooglePlayApp(
            client: try server.client(), app: app, entitlements: entitlements,
            logger: Logger(label: "tests", factory: { [lines] _ in LogLines.Handler(lines: lines) }))
    }

    /// Presents a token as alice.
    ///
    /// - Returns: The error; nil for a redeemed purchase.
    func present(_ token: String) async throws -> PlayDeveloperError? {
        do {
            try await app.redeem(token, for: alice)
            return nil
        } catch let error as PlayDeveloperError {
            return error
        }
    }

    func advance(milliseconds: Int64) { server.clock.advance(milliseconds: milliseconds) }

    /// The messages of the log.
    var messages: [String] { lines.messages.withLock(\.self) }

    /// The number of requests about the states of tokens.
    var questions: Int { server.count("/tokens/") }

    /// The items of alice, besides the one that everybody owns.
    func items() async throws -> [String] {
        try await entitlements.ownItems(of: alice).map { "\($0.collection) \($0.number)" }
    }

    /// The answer about a subscription that is paid for a month.
    ///
    /// - Parameter linked: The token that it replaces; nil for none.
    static func subscription(
        order: String, linked: String?, at now: Timestamp, product: String = "garden.basic.monthly"
    ) -> PlayServer.Scripted {
        let link = linked.map { #","linkedPurchaseToken":"\#($0)""# } ?? ""
        let json = """
            {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(now.rfc3339)","regionCode":"US",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED","lineItems":[{"productId":"\(product)",
            "expiryTime":"\(now.adding(days: 30).rfc3339)","latestSuccessfulOrderId":"\(order)",
            "autoRenewingPlan":{"autoRenewEnabled":true}}]\(link)}
            """
        return .init(status: 200, body: Array(json.utf8))
    }
}

/// The messages of a log.
private final class LogLines: Sendable {
    let messages = Mutex<[String]>([])

    struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.messages.withLock { $0.append("\(event.message)") } }
    }
}

extension GooglePlayApp {
    /// Redeems a token for a user, whatever the decision.
    func redeem(_ token: String, for user: User) async throws {
        let door = RedemptionDoor(purchases.entitlements, asking: [self], counting: ServiceMetrics())
        let proof = try GooglePlayToken(purchaseToken: token).json.compactBytes
        _ = try await door.redeem(RedemptionRequest(proof, for: user, by: .user))
    }
}
