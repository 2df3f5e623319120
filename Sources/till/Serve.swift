import Accounts
import ArgumentParser
import Catalog
import CatalogAdministration
import Commerce
import Entitlements
import Foundation
import Ledger
import Logging
import Profiles
import Receipts
import Server
import ServiceLifecycle
import Webhooks

/// `till serve`
struct Serve: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run the service: it takes proofs of purchase over HTTP, and tells what users own.",
        discussion: """
            Every option but --config may stand in the environment too (TILL_PORT for --port, TILL_TLS_KEY for --tls-key) and in a JSON \
            file; an option counts before the environment, the environment before the file. SIGTERM or Ctrl-C ends the \
            service when what is under way is done.

            Examples:
              till serve
              till serve --store                       # with a local App Store beside it, for development
              till serve --accept apple/Production --host 0.0.0.0 --tls-certificate cert.pem --tls-key key.pem
              till serve --config /etc/till.json --print-configuration
            """)

    @OptionGroup var options: ServeOptions

    @Flag(help: "Print the configuration as it would be used, and end.")
    var printConfiguration = false

    @Flag(
        name: .customLong("store"),
        help: "Run a local App Store, too, whose proofs are trusted and which tells of its sales.")
    var runsStore = false

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let configuration = try await ServeConfiguration(options, dataPath: common.dataPath)
        // Whoever reaches a store can mint purchases.
        guard !runsStore || !configuration.origins.contains(.appleProduction) else {
            throw ConfigurationError(
                message:
                    "A store does not run beside a service that accepts apple/Production: leave out --store, or run "
                    + "`till store` by itself.")
        }
        if printConfiguration {
            console.line(try configuration.text())
            return try console.json(configuration.report)
        }
        try OpenFiles.allow(connections: configuration.server.maximumConnections)
        let data = DataDirectory(path: configuration.dataPath)
        try data.prepareService()
        configuration.logger.notice(
            "starting",
            metadata: [
                "data": "\(data.folder.path)", "ledger": "\(configuration.ledger?.description ?? data.ledgerFile.path)",
                "accept": "\(configuration.origins.map(\.rawValue).sorted().joined(separator: ","))",
            ])
        let local = runsStore ? try LocalStore(data, logger: configuration.logger) : nil
        let clock: any WallClock = local?.store.clock ?? SystemClock()
        let anchors = try TrustAnchors(folders: data.trustedFolders)
        try configuration.check(anchors)
        let ledger = try LedgerPlace(configuration.ledger, in: data).open()
        let metrics = ServiceMetrics()
        let administration = try CatalogService(
            files: try Catalog(folder: Installation.products), ledger: ledger, clock: SystemClock())
        let service = EntitlementService(
            catalog: administration.current,
            verifier: ProofVerifier(anchors: anchors, clock: clock), ledger: ledger, clock: clock,
            accepted: AcceptedOrigins(configuration.origins, sandboxUsers: configuration.sandboxUsers),
            policy: configuration.ownership, onVerify: metrics.recordVerification)
        let keys = APIKeys(ledger: ledger, clock: clock, randomness: .system)
        let tokens = configuration.tokens.map { UserTokens($0, clock: SystemClock(), logger: configuration.logger) }
        try await prepare(tokens, configuration)
        if try keys.list().allSatisfy({ $0.revokedAt != nil }) {
            console.note(
                "There is no API key yet, so no back end can call: make one with \(common.hint("keys", "make", "NAME"))."
            )
        }
        if !configuration.hasWebhooks, try !ledger.webhookEndpoints().isEmpty {
            console.note(
                "The ledger has webhooks to tell, and nothing is sent: start with --webhooks, with which they can be removed, too."
            )
        }
        // By the machine's clock, however far a store's own was moved.
        let accounts =
            configuration.hasAccounts
            ? AccountService(ledger: ledger, clock: SystemClock(), randomness: .system) : nil
        let profiles = ProfileService(
            catalog: administration.current, ledger: ledger, clock: clock, counting: service.accepted.counting)
        let events =
            configuration.hasLiveEvents
            ? EventHub(ledger: ledger, maximumListeners: max(1, configuration.server.maximumConnections / 2)) : nil
        let webhooks =
            configuration.hasWebhooks
            ? WebhookService(ledger: ledger, clock: SystemClock(), randomness: .system) : nil
        let routes = ServiceRoutes(
            service: service, authentication: .apiKeys(keys, tokens, accounts),
            limits: configuration.server.requestLimits, metrics: metrics, accounts: accounts,
            profiles: configuration.hasProfiles ? profiles : nil,
            seedApp: configuration.servesSeedApp ? profiles : nil, events: events,
            administration: configuration.administersCatalog ? administration : nil, webhooks: webhooks,
            allowsPrivateAddresses: configuration.allowsPrivateWebhooks, proxies: configuration.proxies,
            store: local?.routes)
        var companions = try await appStoreCompanions(service, configuration, clock, metrics)
        companions.append(CatalogWatch(service: administration, logger: configuration.logger))
        if let local { companions.append(local.sender) }
        if let events { companions.append(events) }
        let sender = webhooks.map {
            WebhookSender(
                service: $0, commits: routes.commits, allowsPrivateAddresses: configuration.allowsPrivateWebhooks,
                metrics: metrics, logger: configuration.logger)
        }
        let server = ServiceServer(
            router: routes.router, companions: companions, outlasting: sender.map { [$0] } ?? [],
            configuration: configuration.server,
            logger: configuration.logger)
        let console = console
        try await server.run { url in
            console.line("Listening on \(url.absoluteString)")
            local?.tell(url)
            if let key = local?.sandboxKey { console.line("Sandbox key: \(key)") }
            try? console.json(["url": url.absoluteString, "sandboxKey": local?.sandboxKey].compactMapValues(\.self))
        }
    }

    /// What asks the App Store, and answers it.
    private func appStoreCompanions(
        _ service: EntitlementService,
        _ configuration: ServeConfiguration,
        _ clock: any WallClock,
        _ metrics: ServiceMetrics
    ) async throws -> [any Service] {
        guard let settings = configuration.appStore else { return [] }
        let key = try await AppStoreServerKey(
            file: settings.key, keyIdentifier: settings.keyIdentifier, issuerIdentifier: settings.issuerIdentifier,
            bundleIdentifier: service.catalog.bundleIdentifier)
        return settings.sources(configuration.origins).flatMap { url, origins -> [any Service] in
            // Tokens are judged by the machine's clock, however far a store's own was moved.
            let client = AppStoreServerClient(url: url, key: key)
            let schedule = ReconciliationSchedule(
                reconciler: Reconciler(service: service, client: client, origins: origins, clock: clock),
                notificationSeconds: settings.notificationSeconds, historySeconds: settings.historySeconds,
                clock: clock, metrics: metrics, logger: configuration.logger)
            guard let answer = settings.consumption else { return [schedule] }
            return [
                schedule,
                ConsumptionResponder(
                    service: service, client: client, origins: origins, answer: answer, metrics: metrics,
                    logger: configuration.logger),
            ]
        }
    }

    /// A file of keys has to be good. An address may answer later, and nobody else waits for it: what is wrong with it is
    /// logged.
    private func prepare(_ tokens: UserTokens?, _ configuration: ServeConfiguration) async throws {
        guard let tokens else { return }
        if case .file = configuration.tokens?.keys {
            try await tokens.prepare()
        } else {
            Task { try? await tokens.prepare() }
        }
    }
}

/// The options of `till serve`; those left out may stand in the environment or in the file.
struct ServeOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: "A JSON file with the options.")
    var configurationFile: String?

    @Option(help: "The address to listen on (default: 127.0.0.1, this machine alone).")
    var host: String?

    @Option(help: "The port; 0 for any free one (default: 8080).")
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "An origin whose proofs are accepted; may be repeated (default: those of a local store).",
            valueName: "origin"))
    var accept: [Origin] = []

    @Option(
        name: .customLong("sandbox-users"),
        help: ArgumentHelp(
            "A user who may buy in the sandbox of a service that sells, such as App Review; may be repeated.",
            valueName: "user"))
    var sandboxUsers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Whose a purchase is that another user presents: keep, transfer or transferIfInactive (default: keep).",
            valueName: "policy"))
    var ownership: String?

    @Option(
        help: ArgumentHelp(
            "How long a purchase that was transferred stays where it is (default: 2592000, 30 days).",
            valueName: "seconds"))
    var transferPauseSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database as the ledger: postgres://user@host/database (default: a file in the data directory).",
            valueName: "url"))
    var ledger: String?

    @Option(help: ArgumentHelp("A certificate chain in PEM: serve TLS.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's key in PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "Who issues the tokens of apps' users (their `iss`): /v1/me is for them.", valueName: "issuer"))
    var jwtIssuer: String?

    @Option(help: ArgumentHelp("Whom the tokens have to be for (their `aud`).", valueName: "audience"))
    var jwtAudience: String?

    @Option(
        help: ArgumentHelp(
            "The issuer's JWK Set: a file, or the https address it is published at.", valueName: "file-or-url"))
    var jwtKeys: String?

    @Option(
        help: ArgumentHelp(
            "An algorithm that tokens may be signed with; may be repeated (default: RS256 and ES256).",
            valueName: "algorithm"))
    var jwtAlgorithms: [String] = []

    @Flag(help: "Let users sign up with e-mail and password: /v1/accounts and /v1/sessions.")
    var accounts = false

    @Flag(help: "Let users have a profile and a wish list: /v1/me/profile and /v1/me/wishes.")
    var profiles = false

    @Flag(help: "Serve the app that Till began with in its own wire form: /v1/user.")
    var seedApp = false

    @Flag(help: "Let apps listen to what happens to their users: /v1/me/events.")
    var liveEvents = false

    @Flag(help: "Let back ends create, edit and withdraw products: /v1/catalog.")
    var catalogAdministration = false

    @Flag(help: "Tell back ends what happens to their users' purchases: /v1/webhooks.")
    var webhooks = false

    @Flag(help: "Let webhooks be in networks that are not public, on this machine too, and without TLS.")
    var webhookPrivateAddresses = false

    @Option(
        help: ArgumentHelp(
            "How many proxies of yours stand before the service, each of which writes X-Forwarded-For (default: 0).",
            valueName: "n"))
    var proxies: Int?

    @Option(
        help: ArgumentHelp(
            "The .p8 file of a key from App Store Connect: ask the App Store what was missed.", valueName: "file"))
    var appStoreKey: String?

    @Option(help: ArgumentHelp("The key's identifier.", valueName: "identifier"))
    var appStoreKeyId: String?

    @Option(help: ArgumentHelp("The issuer's identifier.", valueName: "uuid"))
    var appStoreIssuerId: String?

    @Option(help: ArgumentHelp("Where the App Store Server API is, where it is not Apple's.", valueName: "url"))
    var appStoreUrl: String?

    @Option(
        help: ArgumentHelp(
            "How often missed notifications are asked for; 0 for never (default: 3600).", valueName: "seconds"))
    var reconcileSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "The same for the histories of all customers (default: 86400).", valueName: "seconds"))
    var reconcileCustomersSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "Answer what the App Store asks about refunds, for customers who have consented: DECLINE, GRANT_FULL, "
                + "GRANT_PRORATED or NONE.", valueName: "preference"))
    var refundPreference: String?

    @Flag(help: "In these answers, customers could try before they bought.")
    var sampleContentProvided = false

    @Option(help: ArgumentHelp("How many connections at once (default: 1024).", valueName: "n"))
    var maximumConnections: Int?

    @Option(
        help: ArgumentHelp("Close a connection on which nothing comes for so long (default: 60).", valueName: "seconds")
    )
    var idleSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "Close a connection whose request is not answered in so long (default: 30).", valueName: "seconds"))
    var requestSeconds: Int?

    @Option(help: ArgumentHelp("How many requests each API key may send in a minute (default: 6000).", valueName: "n"))
    var requestsPerMinute: Int?

    @Option(help: ArgumentHelp("The same for each user of an app (default: 300).", valueName: "n"))
    var userRequestsPerMinute: Int?

    @Option(
        help: ArgumentHelp(
            "How long what is under way may take when the service is told to end (default: 30).", valueName: "seconds"))
    var graceSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "What is logged: trace, debug, info, notice, warning, error or critical (default: info).",
            valueName: "level")
    )
    var logLevel: String?
}

extension Origin: ExpressibleByArgument {}
