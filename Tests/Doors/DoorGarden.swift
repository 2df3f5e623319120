import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A service with open doors, over a ledger and the local store of the garden.
struct DoorGarden {
    static let offerings = """
        {
          "rights": [
            { "name": "gardener", "items": [ { "collection": "plus", "number": 1 }, { "collection": "plus", "number": 2 } ] },
            { "name": "gatekeeper", "products": [ "garden.gate" ] }
          ],
          "currentOffering": "default",
          "offerings": [
            { "identifier": "default", "description": "All", "metadata": { "color": "green" }, "packages": [
              { "identifier": "$rc_monthly", "productID": "garden.basic.monthly", "googlePlay": { "basePlanID": "monthly" } },
              { "identifier": "gate", "productID": "garden.gate" }
            ] }
          ]
        }
        """

    /// The signature of every promotional offer.
    static let signature = "c2lnbmVk"
    /// The nonce of every promotional offer.
    static let nonce = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

    let garden: TestGarden
    let ledger: Ledger
    let entitlements: EntitlementService
    let keys: APIKeys
    /// The public key of the garden's app.
    let key: String
    let metrics = ServiceMetrics()
    /// The routes as a service has them, built once for all requests.
    private let responder: RouterResponder<ServiceContext>

    /// - Parameters:
    ///   - doors: The open doors.
    ///   - others: The apps that the service sells besides the garden.
    ///   - policy: The policy for purchases of another user.
    ///   - accepted: The accepted origins. The store's is `localSandbox`.
    ///   - requests: The requests a minute of one client address.
    ///   - newcomerBytes: The bytes a day of one address for customers without a purchase.
    ///   - chains: Chains whose roots are trusted, too.
    ///   - appKeys: The trusted keys of apps on Google Play.
    ///   - play: The client of the app on Google Play; nil without a service account.
    ///   - proxies: The number of proxies in front of the service.
    ///   - disk: The disk with a reserve of free space; nil for no reserve.
    init(
        _ doors: [Door] = Door.allCases,
        selling others: [App] = [],
        policy: OwnershipPolicy = .keep,
        accepted: AcceptedOrigins = AcceptedOrigins(),
        requests: Int = 1_000_000,
        newcomerBytes: Int = 8 << 20,
        trusting chains: [CertificateChain] = [],
        appKeys: [AppKey] = [],
        play: PlayDeveloperClient? = nil,
        proxies: Int = 0,
        disk: ManualDisk? = nil
    ) async throws {
        garden = try TestGarden(offerings: Self.offerings)
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        keys = ledger.apiKeys(clock: garden.clock)
        key = try await keys.makePublic(name: "app", app: garden.bundleIdentifier, platform: .apple).identifier
        entitlements = EntitlementService(
            apps: try Apps([App(garden.catalog)] + others),
            verifier: try garden.verifier(trusting: chains, appKeys: appKeys),
            ledger: ledger,
            clock: garden.store.clock, accepted: accepted, policy: policy)
        var limits = RequestLimits()
        (limits.perKey, limits.perUser, limits.perPublicKeyAddress) = (requests, requests, requests)
        limits.newcomerBytesPerAddress = newcomerBytes
        let apps = play.map { [garden, entitlements] client in
            [GooglePlayApp(client: client, app: App(garden.catalog), entitlements: entitlements)]
        }
        var stores = StoreClients(googlePlay: apps ?? [])
        stores.offerSigners = [
            ByteKey(garden.bundleIdentifier): { _, _, _, moment in
                PromotionalOfferSignature(
                    keyIdentifier: "key", nonce: Self.nonce, timestamp: moment, signature: Self.signature)
            }
        ]
        var settings = RouteSettings(.apiKeys(keys), limits: limits, metrics: metrics)
        settings.proxies = proxies
        settings.reserve = disk.map { [clock = garden.clock] disk in
            StorageReserve(
                bytes: 1 << 20, clock: clock,
                logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }), freeBytes: disk.askFree)
        }
        let till = Till(entitlements, clock: garden.clock)
        responder = ServiceRoutes(
            till, stores: stores, settings, others: [DoorRoutes(doors, till, stores: stores, settings)]
        ).router().buildResponder()
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        var json: JSONValue? { try? JSONParser.parse(body) }

        /// The member at a path of names, such as `subscriber.subscriptions`.
        subscript(path: String...) -> JSONValue? {
            var value = json
            for name in path {
                guard case .object(let object)? = value else { return nil }
                value = object[name]
            }
            return value
        }
    }

    /// - Parameter key: Another key than the app's; empty for none.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil,
        key: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        let key = key ?? self.key
        if !key.isEmpty { headers[.authorization] = "Bearer \(key)" }
        let bytes = body.map { ByteBuffer(string: $0.compactText) }
        return try await Application(responder: responder).test(.router) { [headers] client in
            try await client.execute(uri: path, method: method, headers: headers, body: bytes) { response in
                Answer(
                    status: response.status.code, headers: response.headers,
                    body: Array(response.body.readableBytesView))
            }
        }
    }

    /// Buys a product at the local store.
    ///
    /// - Returns: The signed transaction and its identifier.
    func buy(_ product: String, account: String = "alice") throws -> (proof: String, identifier: String) {
        let bought = try garden.buy(product, account: account)
        return (
            try garden.store.signedTransaction(bought.identifier),
            try #require(bought.purchase).transactionIdentifier
        )
    }

    /// Receives all notifications of the store so far.
    func notify() async throws {
        for notification in try garden.store.notifications() {
            _ = try await entitlements.receive(notification: Array(notification.signedPayload.utf8))
        }
    }
}
