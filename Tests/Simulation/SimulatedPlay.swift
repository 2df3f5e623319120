import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Logging
import PlayStore
import Proofs
import Service
import Synchronization
import TestSupport
import Vocabulary

/// A local Google Play that sells one app of a simulation, on a socket of its own and on the clock of the app's other store.
///
/// It has dice of its own, so that its steps draw no numbers of the others'.
final class SimulatedPlay: Sendable {
    static let products = ["garden.gate", "garden.seeds"]
    private static let logger = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })
    static let keyFile = "service-account.json"
    /// Nothing listens on the port of discarded data.
    private static let nowhere = URL(string: "http://127.0.0.1:9")

    /// The folder of a Play that has sold nothing. It is made once, because its keys take time.
    static let made = Result {
        let folder = try TemporaryFolder(isInMemory: true)
        let play = try GooglePlay(
            folder: folder.url, clock: ManualClock(), randomness: .seeded(1), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
            if let nowhere { _ = try books.serviceAccountKey(keptIn: folder.file(keyFile), at: nowhere) }
        }
        return folder
    }

    let app: SimulatedApp
    let dice: Dice
    private let play: GooglePlay
    private let folder: TemporaryFolder
    /// The address while it listens, and the service account with which the service asks.
    private let connection = Mutex<(address: URL, account: GoogleServiceAccount)?>(nil)

    init(of app: SimulatedApp, seed: UInt64) throws {
        (self.app, dice) = (app, Dice(seed: ~seed))
        folder = try TemporaryFolder(isInMemory: true)
        let own = folder.folder("play")
        try FileManager.default.copyItem(at: Self.made.get().url, to: own)
        play = try GooglePlay(folder: own, clock: app.store.clock, randomness: dice.randomness, newKey: TestKeys().next)
    }

    private var keyFile: URL { folder.folder("play").appending(path: Self.keyFile, directoryHint: .notDirectory) }

    /// Runs something while the Play listens.
    func listening(_ body: @Sendable @escaping () async throws -> Void) async throws {
        try await Application(router: play.routes(sandboxKey: APIKey("key")).router()).test(.live) { server in
            guard let address = server.port.flatMap({ URL(string: "http://127.0.0.1:\($0)") }) else {
                throw SimulationError.broken("the Play does not listen")
            }
            let key = try self.play.perform {
                try $0.serviceAccountKey(keptIn: self.keyFile, at: address)
            }
            let account = try GoogleServiceAccount(json: try key.json())
            self.connection.withLock { $0 = (address, account) }
            try await body()
        }
    }

    /// Runs a use case of the customers or of Google.
    func perform<Value>(_ body: (PlayBooks) throws -> Value) throws -> Value { try play.perform(body) }

    /// The purchases by their numbers.
    func purchases() throws -> [Int64: OneTimePurchase] {
        Dictionary(uniqueKeysWithValues: try play.perform { try $0.purchases(of: nil) }.map { ($0.number, $0) })
    }

    /// The app as a process of the service asks about it.
    ///
    /// - Parameter isReachable: False if the process reaches no Play.
    private func app(of service: EntitlementService, isReachable: Bool = true) throws -> GooglePlayApp {
        guard let (address, account) = connection.withLock({ $0 }), let nowhere = Self.nowhere else {
            throw SimulationError.broken("the Play does not listen")
        }
        return GooglePlayApp(
            client: PlayDeveloperClient(
                account: account, url: isReachable ? address : nowhere,
                packageName: app.bundleIdentifier, realm: .localPlay, clock: service.clock,
                // Google refuses tokens of a wrong clock, and takes one of before for an hour.
                tokenClock: app.store.clock),
            app: service.apps.first, entitlements: service)
    }

    func redeem(_ token: String, for user: User, at service: EntitlementService) async throws {
        let door = RedemptionDoor(service, asking: [try app(of: service)], counting: ServiceMetrics())
        let proof = try GooglePlayToken(purchaseToken: token).json.compactBytes
        _ = try await door.redeem(RedemptionRequest(proof, for: user, by: .user))
    }

    /// Has a process receive a notification.
    func deliver(
        _ queued: QueuedNotification, to service: EntitlementService
    ) async throws -> [NotificationOutcome] {
        let bytes = Array(try JSONEncoder().encode(queued.notification))
        let notification = try GooglePlayNotification(json: bytes)
        guard let token = notification.purchaseToken else { return [] }
        let bundleIdentifier = app.bundleIdentifier
        return try await app(of: service).refresh(
            token,
            notifiedBy: { origin in
                NotificationRecord(
                    app: bundleIdentifier, origin: origin, notificationUUID: String(queued.number),
                    type: notification.type, subtype: notification.subtype, signedAt: notification.eventTime,
                    proofDigest: DigestAlgorithm.sha256.digest(of: bytes), content: notification.content)
            }, within: .person)
    }

    /// Has a process ask about a purchase, and apply the answer.
    func refresh(_ token: String, by service: EntitlementService) async throws -> [NotificationOutcome] {
        try await app(of: service).refresh(token, within: .person)
    }

    /// Has a process ask about a purchase, and keep the answer.
    func ask(_ token: String, by service: EntitlementService) async throws -> SimulatedLateAnswer {
        let app = try app(of: service)
        let known = try await app.purchases.purchase(of: token)
        let number = try await app.purchases.numberOfQuestion(about: known)
        let statement = try await app.client.statement(
            about: token, as: .product, named: try await app.purchases.tokenNames,
            originalToken: known?.originalToken)
        return SimulatedLateAnswer(token: token, statement: statement, number: number)
    }

    /// Has a process apply an answer that it has kept.
    func apply(_ answer: SimulatedLateAnswer, by service: EntitlementService) async throws -> [NotificationOutcome] {
        let purchases = try app(of: service).purchases
        let recorded = try await purchases.record(answer.statement, continuing: nil, number: answer.number)
        return try await purchases.apply(answer.statement, recordedAs: recorded)
    }

    /// Has a process acknowledge what is due, one after the other.
    func acknowledge(by service: EntitlementService, isReachable: Bool) async throws {
        try await app(of: service, isReachable: isReachable)
            .acknowledger(metrics: ServiceMetrics(), logger: Self.logger, maximumAtOnce: 1).perform()
    }

    /// Has a process ask for voided purchases and for silent ones.
    ///
    /// - Returns: The outcomes with their counts.
    func reconcile(by service: EntitlementService) async throws -> [String] {
        let reconciler = try app(of: service).reconciler
        let reports = [try await reconciler.recordVoidedPurchases(), try await reconciler.recordSilentPurchases()]
        return reports.flatMap { $0.outcomes.map { "\($0.key) \($0.value)" }.sorted() }
    }
}

/// An answer of the Play that a process stores late, such as one that was suspended meanwhile.
struct SimulatedLateAnswer: Sendable {
    let token: String
    let statement: GooglePlayStatement
    /// The number of the question; nil if the token was new then.
    let number: Int64?
}

/// A purchase at the Play, and the user whom the app presents it for.
struct SimulatedPlayPurchase: Sendable {
    let number: Int64
    let token: String
    let app: String
    let user: User

    /// The transaction in the ledger.
    func key(_ names: PurchaseTokenNames) -> TransactionKey {
        TransactionKey(app: app, origin: .localPlayProduction, identifier: names.name(of: token))
    }
}
