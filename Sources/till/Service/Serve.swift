import ArgumentParser
import Catalog
import Console
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import UnixSignals
import Vocabulary

struct Serve: Command {
    static let configuration = CommandConfiguration(
        "serve", "Run the service, which redeems proofs of purchase over HTTP and lists the items of users.",
        """
        Each setting is an option (--tls-key), an environment variable (TILL_TLS_KEY)
        and a member of the JSON file that --config names ("tls-key"). Options override
        variables, and variables override the file. --help shows those
        that most services need, and --help-all all. SIGTERM or Ctrl-C stops the service
        after the requests under way. SIGHUP lets it read the TLS certificate, the trusted
        roots and the catalog anew.
        """,
        examples: """
            till serve
            till serve --store                    # with a local App Store
            till serve --play                     # with a local Google Play
            till serve --accept apple/Production --tls-certificate cert.pem \\
              --tls-key key.pem
            till serve --config till.json --print-configuration
            """)

    @OptionGroup var options: ServeOptions

    @Flag(help: "Print the effective settings as a configuration file, and the source of each to standard error.")
    var printConfiguration = false

    @Flag(
        name: .customLong("print-settings"),
        // Prints the tables of Documentation/Configuration.md.
        help: ArgumentHelp(visibility: .private))
    var printsSettings = false

    @Flag(
        name: .customLong("print-openapi"),
        // Prints Documentation/openapi.json.
        help: ArgumentHelp(visibility: .private))
    var printsDescription = false

    @Flag(
        name: .customLong("store"),
        help: "Run a local App Store, too. The service trusts its proofs and receives its notifications.")
    var runsStore = false

    @Flag(
        name: .customLong("play"),
        help: "Run a local Google Play, too. The service trusts its purchases, asks it, and receives its notifications."
    )
    var runsPlay = false

    @Option(
        help: .value("n", "The port of the local Google Play; 0 for any free one (default: \(PlayServe.standardPort)).")
    )
    var playPort: Int?

    @OptionGroup var sandbox: SandboxKeyOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require(runsPlay || playPort == nil, "--play-port needs --play.")
        if let playPort { try requirePort(playPort, "--play-port") }
    }

    func perform() async throws {
        let configuration = try ServeConfiguration(options, common)
        try checkLocalStores(configuration)
        let hasSandbox = runsStore || runsPlay || configuration.allowsReset
        try require(
            hasSandbox || sandbox.sandboxKey == nil, "--sandbox-key needs --store, --play or --allow-reset.")
        let sandboxKey = hasSandbox ? try sandbox.key() : nil
        let notes = ServeSettings.unknownVariables(ProcessInfo.processInfo.environment)
        notes.forEach(terminal.note)
        if printsSettings { return terminal.page(SettingsDocumentation.page, as: .lines) }
        if printsDescription { return terminal.page(try OpenAPIDocument.page, as: .json) }
        if printConfiguration {
            try terminal.document(configuration.report)
            TextTable(
                header: ["SETTING", "VALUE", "SOURCE"],
                configuration.rows.map { [$0.name, $0.value, $0.source ?? "default"] }
            ).lines.forEach(terminal.errorLine)
            return try terminal.json(configuration.report)
        }
        let terminal = terminal
        try await run(configuration, sandboxKey: sandboxKey, notes: notes) { url, playURL in
            terminal.line("Listening on \(url.absoluteString)")
            if let playURL { terminal.line("Google Play: \(playURL.absoluteString)") }
            if let sandboxKey { terminal.line(sandboxKey.line) }
            try? terminal.report([
                "url": url.absoluteString, "playUrl": playURL?.absoluteString, "sandboxKey": sandboxKey?.printed,
            ])
        }
    }

    /// Refuses a local store beside a service that accepts production: anyone who reaches the store can mint purchases.
    private func checkLocalStores(_ configuration: ServeConfiguration) throws(ConfigurationError) {
        try configuration.settings.require(
            !runsPlay || configuration.googlePlay == nil, "google-service-account",
            "left out beside --play, whose account the service makes itself")
        for (name, isSet) in [
            ("google-refund-preference", configuration.refundReview != nil),
            ("google-refuse-consumed-before", configuration.consumedRefusedBefore != nil),
        ] {
            try configuration.settings.require(
                runsPlay || configuration.googlePlay != nil || !isSet, name, "set together with google-service-account")
        }
        let sold = configuration.origins.filter(\.isSold)
        guard let origin = sold.map(\.rawValue).min() else { return }
        if runsStore {
            throw ConfigurationError(
                message:
                    "A store does not run beside a service that accepts \(origin): leave out --store, or run "
                    + "`till store` by itself.")
        }
        if runsPlay {
            throw ConfigurationError(
                message:
                    "A local Google Play does not run beside a service that accepts \(origin): leave out --play, or run "
                    + "`till play` by itself.")
        }
    }

    private func localStores(
        _ configuration: ServeConfiguration, _ sandboxKey: SandboxKey?
    ) throws -> (LocalStore?, LocalPlay?) {
        guard let key = sandboxKey else { return (nil, nil) }
        let port = playPort ?? PlayServe.standardPort
        // A port in use ends the command before the store makes its keys.
        let play = runsPlay ? try LocalPlay(configuration, port: port, sandboxKey: key) : nil
        let store = runsStore ? try LocalStore(configuration.data, sandboxKey: key, logger: configuration.logger) : nil
        return (store, play)
    }

    /// Runs the service until it is stopped.
    ///
    /// - Parameters:
    ///   - sandboxKey: The key of the local stores and of resets; nil without both.
    ///   - startNotes: The notes that were printed before; the console shows them.
    ///   - announce: Called when the service listens, with its address and that of the local Google Play.
    func run(
        _ configuration: ServeConfiguration,
        sandboxKey: SandboxKey?,
        notes startNotes: [String] = [],
        announcing announce: @escaping @Sendable (URL, URL?) -> Void
    ) async throws {
        // A signal before the service listens is not lost, and does not end it.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        var notes = startNotes
        try OpenFiles.allow(connections: configuration.server.maximumConnections)
        let data = configuration.data
        try data.prepareService()
        let exposed = try configuration.checkAccess()
        exposed.forEach(terminal.note)
        notes += exposed
        configuration.logger.notice(
            "starting",
            metadata: [
                "data": "\(data.folder.path)", "ledger": "\(configuration.ledgerPlace)",
                "accept": "\(configuration.origins.map(\.rawValue).sorted().joined(separator: ","))",
                "catalog": "\(configuration.catalogPlaces.map(\.description).joined(separator: ","))",
            ])
        if runsStore, configuration.appSettings.count > 1 {
            let note =
                "The local store sells \(configuration.appSettings[0].bundleIdentifier), the first of the apps. Run "
                + "`till store serve` with another --data directory for each other app."
            terminal.note(note)
            notes.append(note)
        }
        let (local, localPlay) = try localStores(configuration, sandboxKey)
        let clocks = StoreClocks(appStore: local?.store, play: localPlay?.play)
        let folders = try data.trustedFolders
        let (anchors, appKeys) = (try TrustAnchors(folders: folders), try KnownAppKeys(folders: folders))
        try configuration.check(anchors, appKeys.keys)
        if configuration.hasAccounts, !configuration.sendsMail {
            configuration.logger.notice(
                "no mail is sent: users cannot confirm their addresses or choose new passwords; set mail-server or mail-webhook"
            )
        }
        let certificate = try ServerCertificate(configuration.server)
        let supervisor = Supervisor()
        let ledger = try await configuration.ledgerStart(telling: supervisor).open().blocking(
            configuration.blockedNames)
        let clock = try await clocks.current(of: ledger)
        let metrics = ServiceMetrics()
        let administration = try await CatalogService(
            apps: try configuration.apps(), ledger: ledger, clock: SystemClock())
        let forwarding =
            configuration.forwardsNotifications
            ? NotificationForwarding(to: configuration.forwardingTargets, from: ledger, clock: SystemClock()) : nil
        let verifier = ProofVerifier(
            anchors: anchors, appKeys: appKeys, clock: clocks.latest, keyTables: configuration.keyTables)
        let service = EntitlementService(
            apps: administration.apps, verifier: verifier,
            ledger: ledger,
            clock: clock,
            accepted: AcceptedOrigins(configuration.origins, sandboxUsers: configuration.sandboxUsers),
            policy: configuration.ownership, erasedClaimDays: configuration.erasedClaimDays,
            consumedRefusedBefore: configuration.consumedRefusedBefore,
            keepsProofs: configuration.keepsProofs,
            onVerify: metrics.recordVerification,
            onNotification: forwarding?.enqueue(_:body:))
        let kept = configuration.kept(administration.apps)
        // A service that may not have the ledger leaves its rows as they are.
        try await ledger.write { try $0.keep(kept) }
        try await service.registerApps()
        // Keys expire by the machine's clock, even if the store's clock was advanced.
        let keys = ledger.apiKeys(clock: SystemClock())
        let tokens = try await userTokens(configuration)
        let missing =
            try await notesAboutMissingSettings(keys, ledger, configuration)
            + notesAboutRetention(service.apps, configuration)
        missing.forEach(terminal.note)
        notes += missing
        let appStores = try AppStoreServices(
            service: service, configuration: configuration, clock: clock, metrics: metrics)
        let googlePlay = try GooglePlayServices(
            service: service, configuration: configuration, appKeys: appKeys.keys, localPlay: localPlay,
            metrics: metrics)
        let actions = StoreActionService(
            service, at: appStores.actions + googlePlay.actions, approving: configuration.approvedActions
        ) { metrics.count(.storeActions, $0, code: $1) }
        let till = try Till(service) { parts in
            // Accounts and webhooks go by the machine's clock, even if the store's clock was advanced.
            if configuration.hasAccounts {
                parts.accounts = AccountService(
                    ledger: ledger, clock: SystemClock(), templates: try configuration.mail?.templates())
            }
            parts.administration = configuration.administersCatalog ? administration : nil
            // The clock of the selling store decides days and expiry dates.
            parts.figures = configuration.hasFigures ? ledger.figures(clock: clock) : nil
            parts.forwarding = forwarding
            parts.profiles = configuration.hasProfiles ? service.profiles : nil
            parts.seedApp = configuration.servesSeedApp ? service.profiles : nil
            parts.storeActions = actions
            if configuration.hasWebhooks {
                parts.webhooks = service.webhooks(
                    clock: SystemClock(), allowsPrivateAddresses: configuration.allowsPrivateWebhooks)
            }
        }
        var stores = StoreClients(googlePlay: googlePlay.apps, playNotifications: googlePlay.notifications)
        (stores.orders, stores.offerSigners) = (appStores.orderClients, appStores.offerSigners)
        stores.duties[.externalPurchase] = configuration.duties[.externalPurchase]
        if !appStores.answeredOrigins.isEmpty { stores.duties[.consumptionAnswer] = appStores.answeredOrigins }
        if configuration.refundReview != nil { stores.duties[.refundReview] = stores.duties[.acknowledgement] }
        stores.appStores = appStores.reconciliations.map(\.reconciler)
        stores.logger = configuration.logger
        let settings = configuration.routeSettings(
            .apiKeys(keys, tokens, till.accounts), metrics: metrics, certificate: certificate)
        var (others, companions): ([any RouteSource], [any ServiceLifecycle.Service]) = (
            [], appStores.backgroundServices + googlePlay.backgroundServices
        )
        if let local { others.append(local.routes) }
        if configuration.allowsReset, let sandboxKey {
            others.append(ResetRoutes(service, stores: stores, sandboxKey: sandboxKey.apiKey))
        }
        if let localPlay { companions = [try localPlay.server()] + companions + [localPlay.pushing] }
        if configuration.hasConsole {
            let services = ServiceSystem(
                till: till, configuration: configuration, team: TeamService(ledger: ledger, clock: SystemClock()),
                door: stores.door(of: service, counting: metrics), keys: keys, store: local?.store,
                play: localPlay?.play, metrics: metrics,
                health: ServiceHealth(
                    configuration: configuration, common: common,
                    service: RunningService(till: till, keys: keys, duties: stores.duties), startNotes: notes),
                appStores: appStores, googlePlay: googlePlay.apps, duties: stores.duties)
            // Proxies reach the service over plain HTTP and browsers over TLS.
            let pages = ConsoleRoutes(services, isSecure: configuration.server.tls != nil || configuration.proxies > 0)
            others.append(pages)
            companions += pages.backgroundServices
        } else {
            others.append(ClosedRoutes("--console", pagesIn: "/console"))
        }
        others.append(DoorRoutes(configuration.doors, till, stores: stores, settings))
        let routes = ServiceRoutes(till, stores: stores, settings, others: others)
        let reload = ServiceReload(
            configuration: configuration, certificate: certificate, verifier: verifier, appKeys: appKeys,
            catalog: administration, metrics: metrics)
        companions.append(reload.companion(after: hangUps))
        companions.append(
            service.names.upkeep(isReadAtStart: configuration.hasConsole, logger: configuration.logger))
        companions.append(administration.watch(logger: configuration.logger))
        companions.append(ledger.blockedUserWarning(logger: configuration.logger))
        companions.append(ClockWatch.schedule(service, logger: configuration.logger))
        companions.append(
            HistorySweep.schedule(
                service, appStores.reconciliations.map(\.reconciler), logger: configuration.logger))
        companions += actions.work(logger: configuration.logger)
        companions.append(keys.useRecording(logger: configuration.logger))
        companions.append(IdempotentRequests.deletion(in: ledger, clock: clock, logger: configuration.logger))
        if let local { companions.append(local.sending) }
        companions += routes.backgroundServices(logger: configuration.logger)
        if let figures = till.figures { companions.append(figures.upkeep(logger: configuration.logger)) }
        defer { RunningServer.withdraw(from: data) }
        let logger = configuration.logger
        // The last one stops first.
        if supervisor.isPresent { companions.append(supervisor.signsOfLife(logger: configuration.logger)) }
        try await ServiceServer.run(
            routes.router(), backgroundServices: companions,
            stoppedLast: senders(configuration, of: till, metrics: metrics),
            configuration: configuration.server, certificate: certificate, logger: configuration.logger
        ) { url in
            supervisor.reportReady()
            local?.sendNotifications(to: url)
            let running = RunningServer(
                service: url, appStore: local.map { _ in url }, googlePlay: localPlay?.url)
            let listen: @Sendable () -> Void = {
                running.announce(in: data, logger: logger)
                announce(url, running.googlePlay)
            }
            guard let localPlay else { return listen() }
            localPlay.sendNotifications(to: url)
            localPlay.whenListening(listen)
        }
    }

    /// The verifier of users' tokens; nil if only back ends call.
    ///
    /// - Throws: `TokenKeysError` for a key file that is invalid. An address may respond later: the service does not wait for it,
    ///   and logs its errors.
    private func userTokens(_ configuration: ServeConfiguration) async throws -> UserTokens? {
        guard let settings = configuration.tokens else { return nil }
        let tokens = UserTokens(
            settings, clock: SystemClock(), logger: configuration.logger, blockedNames: configuration.blockedNames)
        if case .file = settings.keys {
            try await tokens.prepare()
        } else {
            Task { try? await tokens.prepare() }
        }
        return tokens
    }

    /// The senders of messages to other servers, each with the reason for which the end of the service waits for it.
    private func senders(
        _ configuration: ServeConfiguration, of till: Till, metrics: ServiceMetrics
    ) -> [(service: any ServiceLifecycle.Service, message: Logger.Message)] {
        var senders: [(service: any ServiceLifecycle.Service, message: Logger.Message)] = []
        if let webhooks = till.webhooks {
            let sender = webhooks.sender(metrics: metrics, logger: configuration.logger)
            senders.append((sender, "waiting for messages to webhooks"))
        }
        if let forwarding = till.forwarding {
            let sender = forwarding.sender(
                allowsPrivateAddresses: configuration.allowsPrivateWebhooks, metrics: metrics,
                logger: configuration.logger)
            senders.append((sender, "waiting for forwarded notifications"))
        }
        // Mails need accounts.
        if let mail = configuration.mail, let accounts = till.accounts, let templates = accounts.templates {
            let sender = accounts.mails.sender(
                over: mail.transport, templates, mail.links, metrics: metrics, logger: configuration.logger)
            senders.append((sender, "waiting for mails"))
        }
        return senders
    }
}

/// The notes at the start of the service.
extension Serve {
    /// The notes about settings that the operator may have forgotten.
    func notesAboutMissingSettings(
        _ keys: APIKeys, _ ledger: Ledger, _ configuration: ServeConfiguration
    ) async throws -> [String] {
        var notes: [String] = []
        if try await keys.validKeys().isEmpty {
            notes.append(
                "There is no valid API key, so no back end can call. Make one with "
                    + common.hint("keys", "make", "NAME", options: configuration.options(beside: common)) + ".")
        }
        if try await !ledger.read(.snapshot, { try $0.ordersTextByBytes() }) {
            notes.append(
                "The database does not order text by bytes, so `till products compare` may show a product twice. Export the "
                    + "ledger, create a database with the locale C, and import it there: `till ledger export`, "
                    + "`createdb --template template0 --encoding UTF8 --locale C`, `till ledger import`.")
        }
        let bare = configuration.sandboxUsers.filter { $0.issuer.isEmpty }.map(\.name).sorted()
        if !bare.isEmpty, configuration.tokens != nil || configuration.hasAccounts {
            notes.append(
                "sandbox-users names users of the back end: \(bare.joined(separator: ", ")). For the user of a token or an "
                    + "account, write \"ISSUER NAME\".")
        }
        let rules = configuration.catalogFolders.map { $0.appending(path: Catalog.refundRulesFile).path }
        if configuration.appStore?.consumption == nil, configuration.refundReview == nil,
            let file = rules.first(where: FileManager.default.fileExists(atPath:))
        {
            notes.append(
                "\(file) has no effect, because the service answers no question about refunds. Set refund-preference "
                    + "or google-refund-preference, if your customers consent.")
        }
        if !configuration.hasWebhooks, try await !ledger.read(.snapshot, { try $0.webhookEndpoints() }).isEmpty {
            notes.append(
                "The ledger has webhooks, but the service sends them nothing. Start it with --webhooks to use or remove them."
            )
        }
        return notes
    }

    /// The notes about rules of retention messages that cannot answer.
    func notesAboutRetention(_ apps: Apps, _ configuration: ServeConfiguration) -> [String] {
        apps.all.flatMap { app in
            guard let rules = app.catalog.retentionRules else { return [String]() }
            let file = "\(Catalog.retentionRulesFile) of \(app.bundleIdentifier)"
            let own = configuration.appSettings.first { $0.bundleIdentifier == app.bundleIdentifier }
            var notes: [String] = []
            if app.appAppleIdentifier == nil,
                !configuration.origins.isDisjoint(with: [.appleProduction, .appleSandbox])
            {
                notes.append(
                    "\(file) answers no question of Apple's, because the service does not know the app's number. Set app-apple-id."
                )
            }
            if rules.needsKey, own?.appStoreKey ?? configuration.appStore?.key == nil {
                notes.append(
                    "\(file) has offers, and the service has no key to sign them. Set app-store-key, or the App Store shows its "
                        + "default message instead.")
            }
            return notes
        }
    }
}
