import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import Vocabulary

/// The configuration of `till serve`.
///
/// Each setting has one name, on the command line (`--tls-key`), in the environment (`TILL_TLS_KEY`) and in the file
/// (`"tls-key"`). The command line overrides the environment, and the environment overrides the file.
struct ServeConfiguration {
    let settings: ServeSettings
    let server: ServerConfiguration
    let origins: Set<Origin>
    /// The users with sandbox purchases in addition to origins of production.
    let sandboxUsers: Set<User>
    let ownership: OwnershipPolicy
    let erasedClaimDays: Int64
    /// The address of the ledger's database; nil for a file in the data directory.
    let ledger: PostgreSQLAddress?
    /// The origins of pages that may call the routes for apps.
    let allowedOrigins: [WebOrigin]
    /// The accepted token issuers; nil if only back ends call.
    let tokens: TokenSettings?
    /// The way to send mails about accounts; nil if none are sent.
    let mail: MailSettings?
    /// Nil if the service does not call the App Store.
    let appStore: AppStoreSettings?
    /// Nil if the service does not call Google Play.
    let googlePlay: GooglePlaySettings?
    /// The answer to Google Play about disputed payments; nil if the service does not answer.
    let refundReview: RefundReviewAnswer?
    /// The moment before which a consumed purchase of Google Play is refused; nil to grant each once.
    let consumedRefusedBefore: Timestamp?
    /// The servers that receive a copy of each notification.
    let forwardingTargets: [ForwardingTarget]
    let logger: Logger

    /// - Throws: `ConfigurationError` for a setting that is unknown, of another type or out of range.
    init(_ options: ServeOptions, _ common: CommonOptions) throws {
        let settings = try ServeSettings(options, common)
        self.settings = settings
        if !settings.apps.isEmpty, let name = ["catalog", "app-apple-id"].first(where: settings.isSet) {
            throw settings.failure(name, "left out beside apps, where each app has its own")
        }
        if !settings.isSet("ledger") {
            try settings.refuse(["ledger-direct-url", "ledger-replicas"], without: "ledger")
        }
        ledger = try settings.text("ledger").map {
            try PostgreSQLAddress(
                $0, direct: settings.text("ledger-direct-url"), replicas: settings.text("ledger-replicas"))
        }
        origins = try Self.origins(settings)
        if let real = origins.filter({ !$0.isLocal }).map(\.rawValue).min() {
            try settings.require(
                !settings.flag("allow-reset"), "allow-reset",
                "left out where a store's customers buy, and accept has \(real)")
        }
        ownership = try Self.ownership(settings)
        erasedClaimDays = Int64(settings.number("erased-purchase-claim-days"))
        let logFormat = settings.text("log-format").flatMap(LogFormat.init(rawValue:)) ?? .text
        var logger = Logger(label: "till.service", factory: logFormat.handler(label:))
        logger.logLevel = settings.text("log-level").flatMap(Logger.Level.init(rawValue:)) ?? .info
        self.logger = logger
        tokens = try Self.tokens(settings)
        mail = try MailSettings(settings)
        sandboxUsers = try Self.sandboxUsers(
            settings, origins,
            issuers: [tokens?.issuer, settings.flag("accounts") ? User.accountIssuer : nil].compactMap(\.self))
        try settings.require(
            !settings.flag("seed-app") || tokens != nil, "seed-app",
            "set together with jwt-issuer, jwt-audience and jwt-keys: its users' tokens")
        appStore = try AppStoreSettings(settings, origins: origins)
        googlePlay = try GooglePlaySettings(settings, origins: origins)
        refundReview = try GooglePlaySettings.refundReview(settings)
        consumedRefusedBefore = try GooglePlaySettings.consumedRefusedBefore(settings)
        forwardingTargets = try [ForwardingTarget](settings)
        server = try Self.server(settings)
        allowedOrigins = try Self.allowedOrigins(settings)
    }

    private static func server(_ settings: ServeSettings) throws(ConfigurationError) -> ServerConfiguration {
        var server = ServerConfiguration()
        server.host = settings.requiredText("host")
        server.port = settings.number("port")
        server.tls = try tls(settings)
        server.maximumConnections = settings.number("maximum-connections")
        // All clients share the addresses of the proxies.
        server.maximumConnectionsPerAddress =
            settings.number("proxies") > 0 ? nil : settings.number("maximum-connections-per-address")
        server.idleTime = .seconds(settings.number("idle-seconds"))
        server.requestTime = .seconds(settings.number("request-seconds"))
        server.requestLimits.perKey = settings.number("requests-per-minute")
        server.requestLimits.perUser = settings.number("user-requests-per-minute")
        server.requestLimits.perPublicKeyAddress = settings.number("address-requests-per-minute")
        server.requestLimits.newcomerBytesPerDay = settings.number("newcomer-megabytes-per-day") << 20
        server.requestLimits.newcomerBytesPerAddress = settings.number("address-newcomer-kilobytes-per-day") << 10
        server.gracePeriod = .seconds(settings.number("grace-seconds"))
        return server
    }

    /// The options that lead other commands to the data and the ledger of the configuration file, which they do not read.
    func options(beside common: CommonOptions) -> [String] {
        func isInFileAlone(_ name: String, _ variable: String) -> Bool {
            settings.isSet(name) && ProcessInfo.variable(variable) == nil
        }
        var options: [String] = []
        if common.dataPath == nil, let dataPath, isInFileAlone("data", "TILL_DATA") { options += ["--data", dataPath] }
        if let ledger, isInFileAlone("ledger", "TILL_LEDGER") { options += ["--ledger", ledger.direct.description] }
        return options
    }

    /// Nil for the default.
    var dataPath: String? { settings.text("data") }
    /// Nil for that of the data directory.
    var catalogPath: String? { settings.text("catalog") }
    /// The directory of the service, and the catalog that a store beside it sells from: that of the first app.
    var data: DataDirectory { DataDirectory(path: dataPath, catalogPath: catalogPath ?? appSettings.first?.catalog) }
    var ledgerPlace: LedgerPlace { LedgerPlace(ledger, in: data) }
    func ledgerStart(telling supervisor: Supervisor) -> LedgerStart {
        LedgerStart(
            place: ledgerPlace, features: .all(of: self), limit: .seconds(settings.number("ledger-wait-seconds")),
            supervisor: supervisor, logger: logger)
    }
    /// The duties to stores that a service with this configuration takes on. A Play beside the service adds its own.
    var duties: StoreDuties {
        // Apple tells of tokens also where no key could report them.
        var duties: StoreDuties = [.externalPurchase: origins.filter { $0.store == .appStore }]
        if let appStore, appStore.consumption != nil {
            let addresses = appSettings.isEmpty ? [nil] : appSettings.map(\.appStoreURL)
            duties[.consumptionAnswer] = Set(addresses.flatMap { appStore.sources($0, origins).flatMap(\.origins) })
        }
        if googlePlay != nil {
            let own = origins.filter { $0.store == .playStore }
            for kind in StoreDuty.Kind.ofGooglePlay { duties[kind] = own }
            if refundReview != nil { duties[.refundReview] = own }
        }
        return duties
    }
    /// The apps of the service; empty for a service with one app.
    var appSettings: [AppSettings] { settings.apps }
    /// The names that stand for no user.
    var blockedNames: BlockedNames { BlockedNames(adding: settings.texts("blocked-user-names")) }
    var hasAccounts: Bool { settings.flag("accounts") }
    /// True if users get mails about their accounts.
    var sendsMail: Bool { mail != nil }
    var hasProfiles: Bool { settings.flag("profiles") }
    var servesSeedApp: Bool { settings.flag("seed-app") }
    var administersCatalog: Bool { settings.flag("catalog-administration") }
    var keepsProofs: Bool { settings.flag("keep-proofs") }
    var keyTables: Int { settings.number("key-tables") }
    var hasWebhooks: Bool { settings.flag("webhooks") }
    /// The actions at stores that a second person must approve.
    var approvedActions: Set<StoreAction.Kind> {
        Set(settings.texts("store-action-approval").compactMap(StoreAction.Kind.init(rawValue:)))
    }
    var forwardsNotifications: Bool { !forwardingTargets.isEmpty }
    var allowsPrivateWebhooks: Bool { settings.flag("webhook-private-addresses") }
    /// True if the ledger keeps sums of sales. The console shows them.
    var hasFigures: Bool { settings.flag("figures") || hasConsole }
    var hasConsole: Bool { settings.flag("console") }
    /// True if suites may empty the ledger.
    var allowsReset: Bool { settings.flag("allow-reset") }
    /// The open doors: the protocols of other purchase servers that the service speaks.
    var doors: [Door] { settings.texts("doors").compactMap(Door.init) }
    /// The number of the team's proxies in front of the service.
    var proxies: Int { settings.number("proxies") }

    var catalogPlaces: [CatalogSource] {
        guard appSettings.isEmpty else {
            return appSettings.map { .folder(URL(filePath: $0.catalog, directoryHint: .isDirectory)) }
        }
        return [data.catalogPlace]
    }

    var catalogFolders: [URL] { catalogPlaces.compactMap(\.folder) }

    /// The settings of the routes.
    ///
    /// - Parameters:
    ///   - metrics: The metrics to which the use cases report, too.
    ///   - certificate: The TLS certificate; nil without TLS.
    func routeSettings(
        _ authentication: Authentication, metrics: ServiceMetrics, certificate: ServerCertificate?
    ) -> RouteSettings {
        var routes = RouteSettings(authentication, limits: server.requestLimits, metrics: metrics)
        routes.bodies = BodyBudget(megabytes: settings.number("maximum-body-megabytes"))
        if settings.flag("live-events") {
            var listeners = EventListeners<Int64>()
            listeners.total = max(1, server.maximumConnections / 2)
            listeners.perAddress = settings.number("maximum-streams-per-address")
            routes.listeners = listeners
        }
        routes.retentionTime = .milliseconds(settings.number("retention-milliseconds"))
        routes.proxies = proxies
        if proxies > 0 {
            routes.requests = NetworkCounts(
                ofHost: settings.number("maximum-connections-per-address"), of: server.maximumConnections)
        }
        (routes.reserve, routes.certificate) = (storageReserve, certificate)
        routes.origins = allowedOrigins
        return routes
    }

    /// The reserve of free space on the disk of a ledger in a file; nil if there is none.
    private var storageReserve: StorageReserve? {
        let (megabytes, folder) = (
            settings.number("storage-reserve-megabytes"), data.ledgerFile.deletingLastPathComponent()
        )
        guard ledger == nil, megabytes > 0 else { return nil }
        return StorageReserve(
            bytes: Int64(megabytes) << 20, ofFileSystem: StorageReserve.size(at: folder),
            clock: SystemClock(), logger: logger
        ) { StorageReserve.freeBytes(at: folder) }
    }

    /// The apps, with the catalogs from their files.
    ///
    /// - Throws: `CatalogError`; `AppsError`; `ConfigurationError`.
    func apps() throws -> Apps {
        guard appSettings.isEmpty else { return try Apps(appSettings.map { try $0.app() }) }
        let number = settings.optionalNumber("app-apple-id").map(Int64.init)
        return Apps(App(try data.catalog(), appAppleIdentifier: number))
    }

    /// Checks that a root of Apple's is trusted if an origin of Apple's is accepted, and that there is a key of an app or a service
    /// account if one of Google Play is.
    func check(_ anchors: TrustAnchors, _ appKeys: [AppKey]) throws(ConfigurationError) {
        let isOfApple = origins.contains(.appleProduction) || origins.contains(.appleSandbox)
        try settings.require(
            !isOfApple || anchors.anchors.contains(where: { $0.realm == .apple }), "accept",
            "a list of origins whose roots are trusted, and none of Apple's is. Add it with `till trust add FILE`")
        let isOfGoogle = origins.contains(.googleProduction) || origins.contains(.googleTest)
        try settings.require(
            !isOfGoogle || googlePlay != nil || appKeys.contains { $0.realm == .google }, "accept",
            "a list of origins whose keys are trusted, and none of an app on Google Play is. Add it with `till trust add FILE "
                + "--package NAME`, or set google-service-account")
    }

    private static func origins(_ settings: ServeSettings) throws(ConfigurationError) -> Set<Origin> {
        let accepted = Set(settings.texts("accept").compactMap(Origin.init(listed:)))
        if let (production, free) = accepted.freeBesideProduction {
            throw settings.failure(
                "accept",
                "a list without \(free.rawValue), where purchases cost nothing, because it has \(production.rawValue). To let "
                    + "App Review or testers buy, name their accounts in sandbox-users")
        }
        return accepted
    }

    /// - Parameter issuers: The issuers whose users the service knows besides the back end's.
    private static func sandboxUsers(
        _ settings: ServeSettings, _ origins: Set<Origin>, issuers: [String]
    ) throws(ConfigurationError) -> Set<User> {
        let names = settings.texts("sandbox-users")
        guard !names.isEmpty else { return [] }
        try settings.require(
            origins.contains { !$0.isSandbox },
            "sandbox-users", "left out unless apple/Production is accepted")
        guard let known = Set(listed: names) else {
            throw settings.failure(
                "sandbox-users",
                "a list of users, each as NAME, or as \"ISSUER NAME\" for the user of a token or an account")
        }
        if let unknown = known.first(where: { !$0.issuer.isEmpty && !issuers.contains($0.issuer) }) {
            throw settings.failure(
                "sandbox-users",
                "a list of users with a known issuer, and \"\(unknown.issuer)\" is neither jwt-issuer nor "
                    + "\(User.accountIssuer) (with accounts)")
        }
        return known
    }

    private static func allowedOrigins(_ settings: ServeSettings) throws(ConfigurationError) -> [WebOrigin] {
        let texts = settings.texts("allowed-origins")
        let origins = texts.compactMap(WebOrigin.init)
        // A page of a sandboxed frame or a file has the origin `null`, so it stands for any page.
        try settings.require(
            origins.count == texts.count, "allowed-origins",
            "a list of origins as browsers send them, such as https://shop.example.com or http://localhost:3000: in lower case, "
                + "without a path, and without a port that is the scheme's own; * and null are none")
        return origins
    }

    private static func ownership(_ settings: ServeSettings) throws(ConfigurationError) -> OwnershipPolicy {
        let policy = OwnershipPolicy(
            name: settings.requiredText("ownership"), pauseSeconds: Int64(settings.number("transfer-pause-seconds")))
        guard let policy else { throw settings.failure("ownership", "keep, transfer or transferIfInactive") }
        try settings.require(
            !settings.isSet("transfer-pause-seconds") || policy != .keep, "transfer-pause-seconds",
            "left out if ownership is keep")
        return policy
    }

    /// - Throws: `ConfigurationError` for a file that is missing or unreadable, so that the message names it.
    private static func tls(_ settings: ServeSettings) throws(ConfigurationError) -> ServerConfiguration.TLS? {
        let names = ["tls-certificate", "tls-key"]
        let paths = names.compactMap(settings.text)
        if paths.isEmpty { return nil }
        if let missing = names.first(where: { settings.text($0) == nil }) {
            throw settings.failure(missing, "set together with \(names.first { $0 != missing } ?? "")")
        }
        for name in names { try settings.requireFile(name) }
        return (URL(filePath: paths[0]), URL(filePath: paths[1]))
    }

    private static func tokens(_ settings: ServeSettings) throws(ConfigurationError) -> TokenSettings? {
        let (issuer, keySource) = (settings.text("jwt-issuer"), settings.text("jwt-keys"))
        var audiences: [TokenSettings.Audience] = []
        if let audience = settings.text("jwt-audience") { audiences.append((audience, nil)) }
        for app in settings.apps {
            if let audience = app.tokenAudience { audiences.append((audience, app.bundleIdentifier)) }
        }
        if issuer == nil, keySource == nil, audiences.isEmpty, !settings.isSet("jwt-algorithms") { return nil }
        guard let issuer, let keySource, !audiences.isEmpty else {
            throw settings.failure("jwt-issuer", "set together with jwt-audience and jwt-keys, or none of the three")
        }
        try settings.require(
            User.isForTokens(issuer: issuer), "jwt-issuer",
            "the issuer of your tokens, without whitespace; it cannot be empty, till, customer or erased, which name the service's own users"
        )
        try settings.require(
            !audiences.contains { $0.name.isEmpty }, "jwt-audience", "an audience of your tokens; it cannot be empty"
        )
        guard let keys = TokenKeySource(keySource) else {
            throw settings.failure("jwt-keys", "a file or an https address; http is for this machine's own")
        }
        let algorithms = settings.texts("jwt-algorithms").compactMap(TokenAlgorithm.init(rawValue:))
        return TokenSettings(issuer: issuer, audiences: audiences, keys: keys, algorithms: Set(algorithms))
    }
}

/// The configuration of the service, for `--print-configuration`. Secrets are left out.
extension ServeConfiguration {
    /// The settings as a file that `--config` takes, with the defaults that do not depend on another setting.
    var report: [String: SettingValue] {
        var report: [String: SettingValue] = [:]
        for entry in settings.effective where !entry.setting.isSecret {
            guard entry.source != nil || entry.setting.dependency == nil, let value = entry.printed else { continue }
            report[entry.setting.name] = value
        }
        return report
    }

    /// The settings for people, with the value and the source of each. The source is nil for a default.
    var rows: [(name: String, value: String, source: String?)] {
        settings.effective.map { ($0.setting.name, $0.summary, $0.source) }
    }
}

extension ServeSettings.Effective {
    /// The value without secrets, and lists in order; nil if there is none.
    fileprivate var printed: SettingValue? {
        switch value {
        case .text(let text): .text(setting.redacted(text))
        case .texts(let texts): .texts(Set(texts).sorted())
        case .number, .flag, .apps, nil: value
        }
    }

    /// The value for people. A secret is hidden, and a default behaviour is described.
    fileprivate var summary: String {
        if setting.isSecret, value != nil { return "(secret)" }
        return printed?.description ?? setting.defaultBehaviour ?? "-"
    }
}

extension [LedgerFeature] {
    /// All features, of which a service uses those that its settings turn on.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the service; nil for a command, which creates no tables for features.
    ///   - others: The features besides these whose tables a command creates.
    static func all(
        of configuration: ServeConfiguration? = nil, using others: [LedgerFeature] = []
    ) -> [LedgerFeature] {
        func uses(_ setting: KeyPath<ServeConfiguration, Bool>) -> Bool { configuration?[keyPath: setting] ?? false }
        let optional: [(feature: LedgerFeature, isUsed: Bool)] = [
            (.keptProofs, uses(\.keepsProofs)), (.accounts, uses(\.hasAccounts)), (.accountMail, uses(\.sendsMail)),
            (.profiles, uses(\.hasProfiles) || uses(\.servesSeedApp)), (.seedApp, uses(\.servesSeedApp)),
            (.webhooks, uses(\.hasWebhooks)), (.forwarding, uses(\.forwardsNotifications)),
            (.catalogAdministration, uses(\.administersCatalog)),
            (.figures, uses(\.hasFigures)), (.team, uses(\.hasConsole)),
            (.resets, uses(\.allowsReset)),
        ]
        return all.map { feature in
            feature.used(
                if: others.contains(feature) || optional.first { $0.feature == feature }?.isUsed ?? true)
        }
    }
}
