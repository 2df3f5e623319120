import Accounts
import AppStoreClient
import Catalog
import Commerce
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Logging
import Receipts
import Service
import StoreHTTP
import Wire

/// How `till serve` is set up: each setting has one name, on the command line (`--tls-key`), in the environment
/// (`TILL_TLS_KEY`) and in the file (`"tls-key"`), and the first of them that says something counts.
struct ServeConfiguration {
    let server: ServerConfiguration
    let origins: Set<Origin>
    /// The users who may buy in the sandbox beside origins of production.
    let sandboxUsers: Set<User>
    let ownership: OwnershipPolicy
    /// nil for the usual one.
    let dataPath: String?
    /// Nil for `$TILL_CATALOG`, else the catalog that comes with Till.
    let catalogPath: String?
    /// The number of the app in the App Store; nil if it is not checked.
    let appAppleIdentifier: Int64?
    /// The apps of a service that sells several; empty for a service with one app.
    let appSettings: [AppSettings]
    /// nil for a file in the data directory.
    let ledger: PostgreSQLAddress?
    /// Whose tokens apps present; nil where only back ends call.
    let tokens: TokenSettings?
    /// Whether users may have accounts with the service itself.
    let hasAccounts: Bool
    /// The way to send mails about accounts; nil if none are sent.
    let mail: MailSettings?
    /// Whether they may have a profile and a wish list.
    let hasProfiles: Bool
    /// Whether the seed's own app is served.
    let servesSeedApp: Bool
    /// Whether apps may listen to what happens to their users.
    let hasLiveEvents: Bool
    /// The limit on connections of one client address; behind proxies, on its requests under way.
    let maximumConnectionsPerAddress: Int?
    /// The limit on event streams of one client address.
    let maximumStreamsPerAddress: Int
    /// The limit on request bodies in memory, in MiB.
    let maximumBodyMegabytes: Int
    /// Whether back ends may change what is sold.
    let administersCatalog: Bool
    /// Whether the signed bytes of proofs are kept.
    let keepsProofs: Bool
    /// Whether back ends may have themselves told what happens.
    let hasWebhooks: Bool
    /// True if the ledger keeps sums of what was sold.
    let hasFigures: Bool
    /// True if webhooks may be in networks that are not public.
    let allowsPrivateWebhooks: Bool
    /// How many proxies of the team's stand before the service.
    let proxies: Int
    /// nil where the App Store is not asked.
    let appStore: AppStoreSettings?
    let logger: Logger
    let logFormat: LogFormat

    /// - Parameters:
    ///   - dataPath: As given on the command line.
    ///   - catalogPath: As given on the command line.
    /// - Throws: `ConfigurationError` for a setting that is unknown, of another type or out of range.
    init(_ options: ServeOptions, dataPath: String?, catalogPath: String?) async throws {
        let settings = try await ServeSettings(options, dataPath: dataPath, catalogPath: catalogPath)
        self.catalogPath = try await settings.text("catalog")
        appAppleIdentifier = try await settings.number("app-apple-id", in: 1...Int.max).map(Int64.init)
        appSettings = settings.apps ?? []
        if !appSettings.isEmpty, self.catalogPath != nil || appAppleIdentifier != nil {
            throw ConfigurationError(
                setting: self.catalogPath != nil ? "catalog" : "app-apple-id",
                expected: "left out beside apps, where each app has its own")
        }
        self.dataPath = try await settings.text("data")
        ledger = try await settings.text("ledger").map { try PostgreSQLAddress($0) }
        origins = try await Self.origins(settings)
        ownership = try await Self.ownership(settings)
        let level = try await settings.text("log-level") ?? Logger.Level.info.rawValue
        guard let level = Logger.Level(rawValue: level) else {
            throw ConfigurationError(
                setting: "log-level",
                expected: "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard let logFormat = LogFormat(rawValue: try await settings.text("log-format") ?? LogFormat.text.rawValue)
        else {
            throw ConfigurationError(
                setting: "log-format",
                expected: "one of \(LogFormat.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.logFormat = logFormat
        var logger = Logger(label: "till.service", factory: logFormat.handler(label:))
        logger.logLevel = level
        self.logger = logger
        tokens = try await Self.tokens(settings, apps: appSettings)
        hasAccounts = try await settings.flag("accounts") ?? false
        mail = try await MailSettings(settings, hasAccounts: hasAccounts)
        sandboxUsers = try await Self.sandboxUsers(
            settings, origins,
            issuers: [tokens?.issuer, hasAccounts ? User.accountIssuer : nil].compactMap(\.self))
        hasProfiles = try await settings.flag("profiles") ?? false
        servesSeedApp = try await settings.flag("seed-app") ?? false
        guard !servesSeedApp || tokens != nil else {
            throw ConfigurationError(
                setting: "seed-app",
                expected: "there together with jwt-issuer, jwt-audience and jwt-keys: its users' tokens")
        }
        hasLiveEvents = try await settings.flag("live-events") ?? false
        administersCatalog = try await settings.flag("catalog-administration") ?? false
        keepsProofs = try await settings.flag("keep-proofs") ?? false
        hasWebhooks = try await settings.flag("webhooks") ?? false
        hasFigures = try await settings.flag("figures") ?? false
        allowsPrivateWebhooks = try await settings.flag("webhook-private-addresses") ?? false
        let proxies = try await settings.number("proxies", in: 0...16) ?? 0
        self.proxies = proxies
        maximumStreamsPerAddress =
            try await settings.number("maximum-streams-per-address", in: 1...100_000)
            ?? EventHub.Limits().perAddress
        maximumBodyMegabytes = try await settings.number("maximum-body-megabytes", in: 2...65_536) ?? 32
        appStore = try await AppStoreSettings(settings, origins: origins, apps: appSettings)
        let standard = ServerConfiguration()
        maximumConnectionsPerAddress =
            try await settings.number("maximum-connections-per-address", in: 1...100_000)
            ?? standard.maximumConnectionsPerAddress
        server = ServerConfiguration(
            host: try await settings.text("host") ?? standard.host,
            port: try await settings.number("port", in: 0...65_535) ?? standard.port,
            tls: try await Self.tls(settings),
            maximumConnections: try await settings.number("maximum-connections", in: 1...100_000)
                ?? standard.maximumConnections,
            // All clients share the addresses of the proxies.
            maximumConnectionsPerAddress: proxies > 0 ? nil : maximumConnectionsPerAddress,
            idleTime: try await settings.number("idle-seconds", in: 1...86_400).map { .seconds($0) }
                ?? standard.idleTime,
            requestTime: try await settings.number("request-seconds", in: 1...3600).map { .seconds($0) }
                ?? standard.requestTime,
            requestLimits: RequestLimits(
                perKey: try await settings.number("requests-per-minute", in: 1...10_000_000)
                    ?? standard.requestLimits.perKey,
                perUser: try await settings.number("user-requests-per-minute", in: 1...10_000_000)
                    ?? standard.requestLimits.perUser),
            gracePeriod: try await settings.number("grace-seconds", in: 0...3600).map { .seconds($0) }
                ?? standard.gracePeriod)
    }

    /// The catalog that a store beside the service sells from: that of the first app.
    var localCatalogPath: String? { catalogPath ?? appSettings.first?.catalog }

    /// The apps, with the catalogs from their files.
    ///
    /// - Throws: `CatalogError`; `AppsError`; `ConfigurationError`.
    func apps() throws -> Apps {
        guard appSettings.isEmpty else { return try Apps(appSettings.map { try $0.app() }) }
        let folder = DataDirectory(path: dataPath, catalogPath: catalogPath).catalogFolder
        return Apps(App(try Catalog(folder: folder), appAppleIdentifier: appAppleIdentifier))
    }

    /// Sees that the origins accepted can come from somewhere.
    ///
    /// - Throws: `ConfigurationError`.
    func check(_ anchors: TrustAnchors) throws(ConfigurationError) {
        let isOfApple = origins.contains(.appleProduction) || origins.contains(.appleSandbox)
        guard !isOfApple || anchors.anchors.contains(where: { $0.realm == .apple }) else {
            throw ConfigurationError(
                setting: "accept",
                expected: "of origins whose roots are trusted, and none of Apple's is: `till trust add` them first")
        }
    }

    private static func origins(_ settings: ServeSettings) async throws -> Set<Origin> {
        guard let names = try await settings.texts("accept") else { return Origin.defaultAccepted }
        let origins = names.map { Origin(rawValue: $0) }
        guard !origins.contains(nil), !origins.isEmpty else {
            throw ConfigurationError(
                setting: "accept", expected: "one or more of \(Origin.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        let accepted = Set(origins.compactMap(\.self))
        guard !accepted.isSuperset(of: [.appleProduction, .appleSandbox]) else {
            throw ConfigurationError(
                setting: "accept",
                expected:
                    "of one of apple/Production and apple/Sandbox, where purchases cost nothing: to let App Review buy, "
                    + "name its account in sandbox-users")
        }
        return accepted
    }

    /// - Parameter issuers: The issuers whose users the service knows besides the back end's.
    private static func sandboxUsers(
        _ settings: ServeSettings,
        _ origins: Set<Origin>,
        issuers: [String]
    ) async throws -> Set<User> {
        guard let names = try await settings.texts("sandbox-users"), !names.isEmpty else { return [] }
        guard !origins.isDisjoint(with: [.appleProduction, .localProduction]) else {
            throw ConfigurationError(
                setting: "sandbox-users", expected: "left out where apple/Production is not accepted")
        }
        let users = names.map { User(listed: $0) }
        guard !users.contains(nil) else {
            throw ConfigurationError(
                setting: "sandbox-users",
                expected: "a list of users, each as NAME, or as \"ISSUER NAME\" for the user of a token or an account")
        }
        let known = Set(users.compactMap(\.self))
        if let stranger = known.first(where: { !$0.issuer.isEmpty && !issuers.contains($0.issuer) }) {
            throw ConfigurationError(
                setting: "sandbox-users",
                expected: "of users with a known issuer, and \"\(stranger.issuer)\" is neither jwt-issuer nor "
                    + "\(User.accountIssuer) (with accounts)")
        }
        return known
    }

    private static func ownership(_ settings: ServeSettings) async throws -> OwnershipPolicy {
        let pause = try await settings.number("transfer-pause-seconds", in: 0...315_360_000).map(Int64.init)
        let name = try await settings.text("ownership") ?? OwnershipPolicy.keep.name
        guard let policy = OwnershipPolicy(name: name, pauseSeconds: pause ?? OwnershipPolicy.defaultPauseSeconds)
        else {
            throw ConfigurationError(setting: "ownership", expected: "keep, transfer or transferIfInactive")
        }
        guard pause == nil || policy != .keep else {
            throw ConfigurationError(
                setting: "transfer-pause-seconds", expected: "left out where nothing is transferred")
        }
        return policy
    }

    private static func tls(_ settings: ServeSettings) async throws -> ServerConfiguration.TLS? {
        switch (try await settings.text("tls-certificate"), try await settings.text("tls-key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return .init(certificate: URL(filePath: certificate), key: URL(filePath: key))
        case (nil, _): throw ConfigurationError(setting: "tls-certificate", expected: "there when tls-key is")
        case (_, nil): throw ConfigurationError(setting: "tls-key", expected: "there when tls-certificate is")
        }
    }
}

extension ServeConfiguration {
    private static func tokens(_ settings: ServeSettings, apps: [AppSettings]) async throws -> TokenSettings? {
        let (issuer, keySource) = (try await settings.text("jwt-issuer"), try await settings.text("jwt-keys"))
        let audience = try await settings.text("jwt-audience")
        let algorithms = try await settings.texts("jwt-algorithms")
        let audiences =
            (audience.map { [TokenAudience($0)] } ?? [])
            + apps.compactMap { app in
                app.tokenAudience.map { TokenAudience($0, app: app.bundleIdentifier) }
            }
        if issuer == nil, keySource == nil, audiences.isEmpty, algorithms == nil { return nil }
        guard let issuer, let keySource, !audiences.isEmpty else {
            throw ConfigurationError(
                setting: "jwt-issuer", expected: "there together with jwt-audience and jwt-keys, or none of the three")
        }
        guard ![User.accountIssuer, User.erasedIssuer].contains(issuer) else {
            throw ConfigurationError(
                setting: "jwt-issuer", expected: "another than \(issuer), which is the service's own")
        }
        guard let keys = TokenKeySource(keySource) else {
            throw ConfigurationError(
                setting: "jwt-keys", expected: "a file or an https address; http is for this machine's own")
        }
        guard let algorithms else { return TokenSettings(issuer: issuer, audiences: audiences, keys: keys) }
        let known = algorithms.compactMap(TokenAlgorithm.init(rawValue:))
        guard known.count == algorithms.count, !known.isEmpty else {
            throw ConfigurationError(
                setting: "jwt-algorithms",
                expected: "of \(TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return TokenSettings(issuer: issuer, audiences: audiences, keys: keys, algorithms: Set(known))
    }
}
