import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Logging
import PlayStore
import Proofs
import Service
import Synchronization
import TestSupport

/// A local Google Play on a free port of this machine, until its last owner releases it. A test may answer single requests in its place.
final class PlayServer: Sendable {
    static let packageName = "com.example.garden"

    /// An answer in place of the Play's.
    struct Scripted: Sendable {
        let status: Int
        var body: [UInt8] = []
        var headers: HTTPFields = [:]
        var delay: Duration = .zero

        static func error(_ status: Int, _ reason: String, headers: HTTPFields = [:]) -> Scripted {
            Scripted(
                status: status,
                body: Array(#"{"error":{"code":\#(status),"message":"m","errors":[{"reason":"\#(reason)"}]}}"#.utf8),
                headers: headers)
        }
    }

    private final class Script: Sendable {
        private struct State {
            var requests: [String] = []
            var answers: [(path: String, answer: Scripted)] = []
            var rule: (@Sendable (Request) -> Scripted?)?
            var heldPath: String?
        }

        private let state = Mutex(State())

        var requests: [String] { state.withLock(\.requests) }

        func add(_ answers: [Scripted], to path: String) {
            state.withLock { $0.answers += answers.map { (path, $0) } }
        }

        func clear() { state.withLock { ($0.answers, $0.rule) = ([], nil) } }

        func set(_ rule: @escaping @Sendable (Request) -> Scripted?) { state.withLock { $0.rule = rule } }

        func hold(_ path: String?) { state.withLock { $0.heldPath = path } }

        func isHeld(_ path: String) -> Bool { state.withLock(\.heldPath).map(path.contains) ?? false }

        /// Notes a request.
        ///
        /// - Returns: The first scripted answer for its path, which is used up; nil for the Play's.
        func next(_ request: Request) -> Scripted? {
            state.withLock { state in
                state.requests.append("\(request.method.rawValue) \(request.uri.string)")
                if let answer = state.rule?(request) { return answer }
                let path = request.uri.path
                guard let index = state.answers.firstIndex(where: { path.contains($0.path) }) else { return nil }
                return state.answers.remove(at: index).answer
            }
        }
    }

    private struct Scripting: RouterMiddleware {
        let script: Script

        func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
            let scripted = script.next(request)
            while script.isHeld(request.uri.path) { try await Task.sleep(for: .milliseconds(1)) }
            guard let scripted else { return try await next(request, context) }
            try await Task.sleep(for: scripted.delay)
            return Response(
                status: .init(code: scripted.status), headers: scripted.headers,
                body: .init(byteBuffer: ByteBuffer(bytes: scripted.body)))
        }
    }

    struct NotListening: Error {}

    let clock = ManualClock()
    let play: GooglePlay
    let url: URL
    private let folder: TemporaryFolder
    private let script = Script()
    private let task: Task<Void, Never>

    /// Starts the Play and waits until it listens.
    ///
    /// - Parameter newKey: Makes an RSA key of the Play.
    init(newKey: @escaping @Sendable () throws -> PrivateKey = TestKeys().next) async throws {
        folder = try TemporaryFolder(isInMemory: true)
        play = try GooglePlay(folder: folder.url, clock: clock, randomness: .seeded(1), newKey: newKey)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
            try books.addApp("com.example.other")
        }
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let router = Router(context: ServiceContext.self)
        router.add(middleware: Scripting(script: script))
        play.routes(sandboxKey: APIKey("key")).add(to: router)
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                continuation.yield(channel.localAddress?.port ?? 0)
                continuation.finish()
            }, logger: Logger(label: "play", factory: { _ in SwiftLogNoOpLogHandler() }))
        task = Task { try? await application.run() }
        var port = 0
        for await found in ports { port = found }
        guard port != 0, let url = URL(string: "http://127.0.0.1:\(port)") else { throw NotListening() }
        self.url = url
    }

    deinit { task.cancel() }

    /// Answers the next requests whose paths contain a text.
    func answer(_ path: String, _ answers: Scripted...) { script.add(answers, to: path) }

    /// Answers each request for which a rule has an answer.
    func answer(by rule: @escaping @Sendable (Request) -> Scripted?) { script.set(rule) }

    /// Holds the answers to requests whose paths contain a text, until they are released.
    func hold(_ path: String) { script.hold(path) }

    func release() { script.hold(nil) }

    /// Removes the rule, and the answers that no request has used.
    func clear() { script.clear() }

    /// The method, path and query of each request.
    var requests: [String] { script.requests }

    func count(_ path: String) -> Int { requests.count { $0.contains(path) } }

    /// The number of access tokens that were asked for.
    var tokenCount: Int { count("POST /token") }

    /// A service account.
    ///
    /// - Parameter packageNames: The apps that the account may ask about; nil for all.
    func account(for packageNames: [String]? = nil) throws -> GoogleServiceAccount {
        try GoogleServiceAccount(
            json: try play.perform { try $0.makeServiceAccount(at: url, for: packageNames) }.json())
    }

    func client(
        of packageName: String = packageName, _ account: GoogleServiceAccount? = nil
    ) throws -> PlayDeveloperClient {
        PlayDeveloperClient(
            account: try account ?? self.account(), url: url, packageName: packageName, realm: .localPlay, clock: clock)
    }

    func buy(
        _ product: String = "garden.seeds", _ change: (inout PlayPurchaseOrder) -> Void = { _ in }
    ) throws -> OneTimePurchase {
        var order = PlayPurchaseOrder(packageName: Self.packageName, productId: product, account: "ada")
        change(&order)
        return try play.perform { try $0.buy(order) }
    }

    /// Sells the gate also by an option to rent it.
    func offerRental(_ period: String, expiration: String? = nil) throws {
        let rent = expiration.map { #","expirationPeriod":"\#($0)""# } ?? ""
        let prices = #"[{"regionCode":"US","price":{"currencyCode":"USD","units":"2"},"availability":"AVAILABLE"}]"#
        func option(_ name: String, _ kind: String) -> String {
            #"{"purchaseOptionId":"\#(name)","state":"ACTIVE","regionalPricingAndAvailabilityConfigs":\#(prices),\#(kind)}"#
        }
        let options = [
            option("buy", #""buyOption":{"legacyCompatible":true}"#),
            option("rent", #""rentOption":{"rentalPeriod":"\#(period)"\#(rent)}"#),
        ].joined(separator: ",")
        try sell(
            #"{"oneTimeProducts":[{"packageName":"\#(Self.packageName)","productId":"garden.gate","purchaseOptions":[\#(options)],"#
                + #""listings":[{"languageCode":"en-US","title":"A gate"}]}]}"#)
    }

    /// Sells the gate also by an offer to pre-order it, which is released after some days.
    func offerPreorder(_ days: Int64) throws {
        let now = clock.now()
        let times = [("startTime", now), ("endTime", now.adding(days: days)), ("releaseTime", now.adding(days: days))]
        let members = times.map { #""\#($0)":"\#($1.rfc3339)""# }.joined(separator: ",")
        let behavior = #""priceChangeBehavior":"PRE_ORDER_PRICE_CHANGE_BEHAVIOR_NEW_ORDERS_ONLY""#
        try sell(
            #"{"oneTimeProductOffers":[{"packageName":"\#(Self.packageName)","productId":"garden.gate","purchaseOptionId":"buy","#
                + #""offerId":"early","state":"ACTIVE","preOrderOffer":{\#(members),\#(behavior)},"#
                + #""regionalPricingAndAvailabilityConfigs":[{"regionCode":"US","availability":"AVAILABLE","noOverride":{}}]}]}"#
        )
    }

    func preorder(_ product: String = "garden.gate") throws -> OneTimePurchase {
        let order = PlayPurchaseOrder(packageName: Self.packageName, productId: product, account: "ada")
        return try play.perform { try $0.buy(order, offerId: "early") }
    }

    /// Sells what a catalog file has.
    func sell(_ catalog: String) throws {
        let file = folder.file("more.play.json")
        try Data(catalog.utf8).write(to: file)
        let more = try PlayCatalog(file: file)
        try play.perform { try $0.add(more) }
    }

    func subscribe(_ account: String = "ada") throws -> RecurringPurchase {
        let order = PlayPurchaseOrder(
            packageName: Self.packageName, productId: "garden.basic.monthly", account: account)
        return try play.perform { try $0.subscribe(order) }
    }
}

extension PlayDeveloperClient.Patience {
    /// Three attempts without waits.
    static let quick = Self(answer: .seconds(30), delays: [.zero, .zero])
}

extension PlayDeveloperClient {
    /// Asks for the state of a purchase token, whose name the test knows.
    func statement(
        about token: String, as kind: Kind? = nil, originalToken: String? = nil,
        pricedOrders: Set<String> = [], within patience: Patience = .person
    ) async throws(PlayDeveloperError) -> GooglePlayStatement {
        try await statement(
            about: token, as: kind, named: .test, originalToken: originalToken, pricedOrders: pricedOrders,
            within: patience)
    }
}
