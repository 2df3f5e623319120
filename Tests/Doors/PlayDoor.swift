import Catalog
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A service with open doors beside a local Google Play, which it asks over HTTP.
struct PlayDoor: Sendable {
    let door: DoorGarden
    let play: GooglePlay
    let client: PlayDeveloperClient
    private let clock: ManualClock
    /// The folder of the Play, which ends with its last user.
    private let folder: TemporaryFolder

    /// Runs something beside a service and a Play that sells the garden's products.
    static func run(
        _ doors: [Door] = Door.allCases,
        policy: OwnershipPolicy = .keep,
        accepting origins: Set<Origin> = Origin.defaultAccepted,
        _ body: @Sendable @escaping (PlayDoor) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder(isInMemory: true)
        // The App Store of the garden begins at the same time, with a clock of its own.
        let clock = ManualClock(try #require(Timestamp(rfc3339: ExpectedAnswer.start)))
        let play = try GooglePlay(folder: folder.url, clock: clock, randomness: .seeded(1), newKey: TestKeys().next)
        let configuration = try StoreKitConfiguration(file: TestGarden.file.path)
        try play.perform {
            try $0.add(PlayCatalog(configuration, bundleIdentifier: TestGarden.bundleIdentifier))
        }
        try await Application(router: play.routes(sandboxKey: APIKey("key")).router()).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let key = try play.perform { try $0.makeServiceAccount(at: url) }
            let client = PlayDeveloperClient(
                account: try GoogleServiceAccount(json: key.json()), url: url,
                packageName: TestGarden.bundleIdentifier, realm: .localPlay, clock: clock)
            let door = try await DoorGarden(
                doors, policy: policy, accepted: AcceptedOrigins(origins), play: client)
            try await body(PlayDoor(door: door, play: play, client: client, clock: clock, folder: folder))
        }
    }

    /// Moves the time of the service and of the Play.
    func advance(days: Int64 = 0, seconds: Int64 = 0) {
        for clock in [clock, door.garden.clock] { clock.advance(milliseconds: (days * 86_400 + seconds) * 1000) }
    }

    /// Changes something at the Play, a minute later: of two statements of one moment, neither is the last.
    func change<Value>(_ body: (PlayBooks) throws -> Value) throws {
        advance(seconds: 60)
        _ = try play.perform(body)
    }

    private func order(_ product: String, _ account: String) -> PlayPurchaseOrder {
        PlayPurchaseOrder(packageName: TestGarden.bundleIdentifier, productId: product, account: account)
    }

    /// Buys a one-time product.
    ///
    /// - Parameter isPending: True for a payment that is made later.
    func buy(
        _ product: String,
        quantity: Int = 1,
        isPending: Bool = false,
        isTest: Bool = false,
        account: String = "alice"
    ) throws -> PlayPurchaseResource {
        try play.perform { books in
            var order = order(product, account)
            (order.quantity, order.isPending, order.isTest) = (quantity, isPending, isTest)
            return try books.resource(books.buy(order))
        }
    }

    func subscribe(_ product: String, account: String = "alice") throws -> PlaySubscriptionResource {
        try play.perform { try $0.resource($0.subscribe(order(product, account))) }
    }

    /// Sends a purchase token as RevenueCat's SDK does on Android.
    func redeem(_ token: String, of user: String, products: String...) async throws -> DoorGarden.Answer {
        try await door.send(
            .post, "/v1/receipts", RevenueCatAndroidTests.receipt(token, of: user, products: products),
            headers: RevenueCatAndroidTests.headers)
    }
}
