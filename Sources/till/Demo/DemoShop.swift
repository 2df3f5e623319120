import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import NIOCore
import PlayStore
import Proofs
import Service
import Synchronization

/// The data directory of a demonstration: two stores and a ledger with the same sales. A class, because the compiler crashes on a wide
/// value in an async closure.
final class DemoShop: Sendable {
    /// The name of the administrator. The others are named after their roles.
    static let administrator = "demo"
    private static let appAppleIdentifier: Int64 = 1_540_000_000
    private static let url = "http://127.0.0.1/v1/notifications/apple"

    /// The service of the demonstration, which is started after the year.
    let serve: Serve
    let configuration: ServeConfiguration
    /// The receiver of its webhooks.
    let receiver: DemoReceiver
    private let data: DataDirectory
    private let ledger: Ledger
    private let catalog: Catalog
    private let apps: Apps
    private let markets: [DemoYear.Market]
    private let chance: DemoChance
    private let play: GooglePlay
    private let playChance: DemoChance
    /// The clock of the store, and that of the Play.
    private let clock: DemoClock
    private let playClock: DemoClock
    private let end: Timestamp

    var dataPath: String { data.folder.path }
    var catalogPath: String { data.catalogPlace.description }

    /// Opens a store, at the beginning of the year, and an empty ledger.
    ///
    /// - Parameter port: The port of the service, which is not 0.
    init(folder: URL, seed: UInt64, port: Int) async throws {
        let catalogFolder = folder.folder("catalog")
        let end = SystemClock().now()
        let (clock, chance) = (DemoClock(end.adding(days: -Int64(DemoYear.days))), DemoChance(seed: seed))
        try DemoCatalog.write(into: catalogFolder, ratesOf: CalendarDay(end))
        let data = DataDirectory(
            path: folder.folder("data").path, catalogPath: catalogFolder.path)
        try data.prepare()
        let catalog = try Catalog(folder: catalogFolder)
        // Sales of the environment Production are the ones that the figures show first.
        try StoreApp.keep(
            catalog.bundleIdentifier, products: catalogFolder.appending(path: Catalog.configurationFile).path,
            environment: .production, appAppleIdentifier: Self.appAppleIdentifier, in: data)
        // One store, with the prices of each country. The keys and the ledger's identifiers are secrets, and come from the system.
        markets = try DemoCountry.all.map { country in
            DemoYear.Market(
                country: country,
                store: try Store(
                    folder: data.storeFolder, bundleIdentifier: catalog.bundleIdentifier,
                    configuration: try country.configuration(catalog.configuration), environment: .production,
                    appAppleIdentifier: Self.appAppleIdentifier, isDurable: false, clock: clock,
                    randomness: chance.randomness))
        }
        try data.trust(markets[0].store)
        // The Play has chance of its own: its sales leave those of the store as they are.
        (playClock, playChance) = (DemoClock(clock.now()), DemoChance(seed: ~seed))
        try data.preparePlay()
        play = try GooglePlay(folder: data.playFolder, clock: playClock, randomness: playChance.randomness)
        try play.perform {
            try $0.add(PlayCatalog(catalog.configuration, bundleIdentifier: catalog.bundleIdentifier))
        }
        let keyFile = folder.file("AuthKey.p8")
        let key = try markets[0].store.makeTeamKey { _, privateKey in
            try PrivateFile.create(Array(privateKey.utf8), at: keyFile)
        }
        // The key is for the look-up of orders. The store has sent every notification.
        serve = try Serve.parse([
            "--store", "--play", "--play-port", "0", "--console", "--webhooks", "--webhook-private-addresses",
            "--profiles",
            "--catalog-administration", "--keep-proofs", "--port", String(port), "--log-level", "warning", "--data",
            data.folder.path, "--catalog", catalogFolder.path, "--app-store-key", keyFile.path, "--app-store-key-id",
            key.keyIdentifier, "--app-store-issuer-id", key.issuerIdentifier, "--app-store-url",
            "http://127.0.0.1:\(port)", "--reconcile-seconds", "0", "--reconcile-customers-seconds", "0",
        ])
        configuration = try ServeConfiguration(serve.options, serve.common)
        ledger = try Ledger(file: data.ledgerFile, features: .all(of: configuration))
        apps = try await CatalogService(apps: Apps(App(catalog)), ledger: ledger, clock: clock).apps
        receiver = DemoReceiver(ledger: ledger)
        (self.data, self.catalog, self.clock, self.chance, self.end) = (data, catalog, clock, chance, end)
    }

    /// Plays a year of sales that ends now.
    ///
    /// - Parameter url: The address of a webhook, which the team adds on the last day.
    func play(sendingTo url: URL) async throws {
        try await LoopbackServer.run({ [play] in play.routes(sandboxKey: SandboxKey().apiKey).router() }) { playURL in
            try await self.playYear(sendingTo: url, askingAt: playURL)
        }
    }

    private func playYear(sendingTo url: URL, askingAt playURL: URL) async throws {
        let serviceClock = DemoClock(clock.now())
        let service = EntitlementService(
            apps: apps,
            verifier: ProofVerifier(anchors: try TrustAnchors(folders: data.trustedFolders), clock: serviceClock),
            ledger: ledger, clock: serviceClock)
        try await service.registerApps()
        _ = try markets[0].store.update {
            ($0.notificationsURL, $0.isBillingGracePeriodEnabled) = (URL(string: Self.url), true)
        }
        let playApp = try playApp(of: service, at: playURL)
        let door = RedemptionDoor(service, asking: [playApp], counting: ServiceMetrics())
        let googlePlay = DemoPlay(play, clock: playClock, chance: playChance, app: playApp, door: door)
        var year = DemoYear(
            door: door, clock: clock, serviceClock: serviceClock, chance: chance, end: end,
            googlePlay: googlePlay, markets: markets)
        try await year.play(0..<DemoYear.days - 1)
        _ = try await service.webhooks(clock: serviceClock).add(
            WebhookURL(receiver: url.absoluteString, allowsPrivate: true),
            by: AuditActor.caller(member: Self.administrator))
        try await year.play(DemoYear.days - 1..<DemoYear.days)
        try await year.finish()
        // The service sets its own address when it listens.
        _ = try markets[0].store.update { $0.notificationsURL = nil }
        try await ledger.figures(clock: serviceClock).rollUp()
    }

    /// The app at the Play, about whose purchases the service asks.
    private func playApp(of service: EntitlementService, at url: URL) throws -> GooglePlayApp {
        let key = try play.perform { try $0.serviceAccountKey(keptIn: data.playAccountFile, at: url) }
        return GooglePlayApp(
            client: PlayDeveloperClient(
                account: try GoogleServiceAccount(json: try key.json()), url: url,
                packageName: PackageName.name(ofApp: catalog.bundleIdentifier), realm: .localPlay,
                clock: service.clock, tokenClock: playClock),
            app: apps.first, entitlements: service)
    }

    /// Makes an API key with every scope.
    func makeKey() async throws -> String {
        let keys = ledger.apiKeys(clock: SystemClock())
        return try await keys.make(name: Self.administrator, scopes: Set(APIKeyScope.allCases)).key
    }

    /// Adds a person for each role, the administrator first.
    func addPeople() async throws -> [DemoPerson] {
        let team = TeamService(ledger: ledger, clock: SystemClock())
        var people: [DemoPerson] = []
        for role in [TeamRole.admin, .support, .catalog, .viewer] {
            let person = DemoPerson(
                name: role == .admin ? Self.administrator : role.rawValue, role: role,
                password: Randomness.system.bytes(6).hexadecimal)
            let invitation = try await team.add(person.name, role: role)
            try await team.accept(
                invitation: invitation,
                passwordHash: try team.passwords.hash(try Password(person.password, unlike: [])))
            people.append(person)
        }
        return people
    }
}

/// A person who may log in to the console of a demonstration.
struct DemoPerson: Sendable {
    let name: String
    let role: TeamRole
    let password: String

    /// The main right of the role.
    var right: String {
        switch role {
        case .admin: "may do everything"
        case .support: "helps customers"
        case .catalog: "changes products"
        case .viewer: "changes nothing"
        }
    }

    var report: Report { ["name": name, "role": role.rawValue, "password": password] }
}

/// The catalog of the demonstration: the sample catalog, with seeds and subscriptions.
enum DemoCatalog {
    static let prefix = "com.memolease.sesac1."
    /// The files of the products and their items, by their names.
    static let files = [
        (name: Catalog.configurationFile, bytes: PackageResources.Till_storekit),
        (name: Catalog.itemsFile, bytes: PackageResources.Items_json),
    ]

    /// Writes the catalog into a folder, with the pictures of the sample catalog.
    ///
    /// - Parameter day: The day of the exchange rates.
    static func write(into folder: URL, ratesOf day: CalendarDay) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in files { try Data(bytes).write(to: folder.file(name)) }
        try Data(DemoCountry.exchangeRates(of: day).utf8).write(to: folder.appending(path: ExchangeRates.file))
        let pictures = folder.folder(Picture.folder)
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        for (name, bytes) in CatalogSource.samplePictures { try Data(bytes).write(to: pictures.file(name)) }
    }
}

/// The chance of a demonstration: the same numbers for the same seed (SplitMix64; Steele, Lea and Flood 2014).
final class DemoChance: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) {
        state = Mutex(seed)
    }

    var randomness: Randomness {
        Randomness { self.next() }
    }

    func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True in a number of cases out of a thousand.
    func happens(perMille: Int) -> Bool { number(below: 1000) < perMille }

    func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    private func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}

/// A clock that stands still until it is set.
final class DemoClock: WallClock {
    private let moment: Mutex<Timestamp>

    init(_ moment: Timestamp) {
        self.moment = Mutex(moment)
    }

    func now() -> Timestamp { moment.withLock { $0 } }

    func set(_ moment: Timestamp) {
        self.moment.withLock { $0 = moment }
    }
}

/// The back end of a demonstration. It receives the messages of webhooks, and verifies each signature (Standard Webhooks, "Verifying
/// webhook authenticity").
struct DemoReceiver: Sendable {
    private static let path = "webhooks"
    /// The largest body of a message, in bytes.
    private static let maximumSize = 1 << 20
    /// The largest age of a message, in seconds.
    private static let tolerance: Int64 = 300

    let ledger: Ledger

    static func url(at server: URL) -> URL { server.appending(path: path) }

    func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.post(RouterPath(Self.path)) { request, _ in
            let body = try await request.body.collect(upTo: Self.maximumSize)
            let isSigned = try await isSigned(Array(body.readableBytesView), request.headers)
            return Response(
                status: isSigned ? .ok : .unauthorized, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(string: isSigned ? "The signature is valid." : "The signature is not valid.")
                ))
        }
        return router
    }

    /// True if a message is recent, and has a signature with the secret of an endpoint of this ledger.
    private func isSigned(_ body: [UInt8], _ headers: HTTPFields) async throws -> Bool {
        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
        guard let identifier = header("webhook-id"), let sentAt = header("webhook-timestamp").flatMap({ Int64($0) }),
            let signatures = header("webhook-signature")
        else { return false }
        let now = SystemClock().now()
        guard abs(now.secondsSince1970 - sentAt) <= Self.tolerance else { return false }
        let expected =
            SignedWebhook(
                body, identifier: identifier,
                secrets: try await ledger.read { try $0.webhookEndpoints() }.flatMap { $0.secrets(at: now) },
                at: Timestamp(secondsSince1970: sentAt)
            ).headers.last?.value ?? ""
        return !Set(signatures.split(separator: " ")).isDisjoint(with: expected.split(separator: " "))
    }
}
