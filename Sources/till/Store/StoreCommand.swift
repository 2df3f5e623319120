import AppStore
import ArgumentParser
import Catalog
import Foundation
import HTTPSupport
import Logging
import Proofs

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Run a local App Store to test a server against, and play Apple.",
        discussion: """
            Examples:
              till store                   # the shipped catalog, on port 8081
              till store --products Garden.storekit --bundle-id com.example.garden
              till store keys              # a key for the App Store Server API
              till store buy garden.basic.monthly --account alice
              till store time --advance 1mo
              till store refund 2000000123456789
              till store reset
            """,
        subcommands: [
            StoreServe.self, StoreKeysCommand.self, StoreProducts.self, StoreBuy.self, StoreQueue.self,
            StoreApprove.self, StoreDecline.self, StoreResolve.self, StoreSales.self, StoreRefund.self,
            StoreDelete.self, StoreSubscription.self, StoreFamily.self, StoreTime.self, StoreSettingsCommand.self,
            StoreNotifications.self, StoreNotify.self, StoreRetention.self, StoreJudge.self, StoreReset.self,
        ],
        defaultSubcommand: StoreServe.self)
}

struct StoreApprove: Command {
    static let configuration = CommandConfiguration(
        "approve", "Approve a deferred purchase, as a parent does.", examples: "till store approve 3")

    @Argument(help: "The transaction's number; `till store queue` lists them.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try terminal.decide(.approve, id, common)
    }
}

struct StoreDecline: Command {
    static let configuration = CommandConfiguration(
        "decline", "Decline a deferred purchase.", examples: "till store decline 3")

    @Argument(help: "The transaction's number; `till store queue` lists them.")
    var id: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try terminal.decide(.decline, id, common)
    }
}

extension Terminal {
    /// Decides on a deferred purchase, and prints the result and the command that relaunches the app.
    func decide(_ action: PaymentAction, _ id: Int64, _ common: CommonOptions) throws {
        let queued = try common.directoryOfStore.store().perform(action, on: id)
        let transaction = queued.transaction
        let reason = transaction.error.map { " (\($0.name))" } ?? ""
        line("Transaction \(transaction.identifier) is \(transaction.state.rawValue)\(reason).")
        line("The app gets the result at its next launch: \(common.hint("resume", "--user", queued.account))")
        try json(transaction.report(user: queued.account))
    }
}

struct StoreProducts: Command {
    static let configuration = CommandConfiguration(
        "products", "List the products that the store sells, or those of a StoreKit configuration.",
        examples: """
            till store products
            till store products --products Garden.storekit
            """)

    @Option(
        name: .customLong("products"),
        help: ArgumentHelp("A StoreKit configuration of Xcode to list instead.", valueName: "file"))
    var configurationFile: String?

    @Option(help: "The language of the texts, such as ko (default: en, or else the configuration's first).")
    var locale: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        let configuration =
            if let configurationFile {
                try StoreKitConfiguration(file: configurationFile)
            } else {
                try StoreApp(of: data).configuration
            }
        let rows = try [ProductResource](configuration.products, in: nil, locale: locale)
        terminal.table(
            ["TYPE", "NAME", "PRICE", "IDENTIFIER"],
            rows.map { [$0.type, $0.displayName, $0.priceWithPeriod, $0.productId] })
        try terminal.json(List(rows))
    }
}

struct StoreQueue: Command {
    static let configuration = CommandConfiguration(
        "queue", "List the transactions of the store's payment queue and their states.",
        examples: "till store queue --account alice")

    @Option(help: "List only the transactions of this customer.")
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let transactions = try common.directoryOfStore.store().read { try $0.payments.transactions(account: account) }
        terminal.table(
            ["ID", "ACCOUNT", "PRODUCT", "STATE", "TRANSACTION"],
            transactions.map { queued in
                let transaction = queued.transaction
                // The name of the SKError, or `interrupted` for a payment that `till store resolve` completes.
                let reason = queued.isInterrupted ? "interrupted" : transaction.error?.name
                return [
                    String(transaction.identifier), TextTable.shortened(queued.account),
                    transaction.payment.productIdentifier,
                    transaction.state.rawValue + (reason.map { " (\($0))" } ?? ""),
                    transaction.purchase?.transactionIdentifier,
                ]
            }, orElse: account.map { "No payments of account \"\($0)\"." } ?? "No payments.")
        try terminal.json(["transactions": transactions.map { $0.transaction.report(user: $0.account) }])
    }
}

struct StoreReset: Command {
    static let configuration = CommandConfiguration(
        "reset", "Clear the sales, the families, the clocks and the settings.",
        "The store keeps the keys, the products and the address of notifications. Services keep their grants.",
        examples: """
            till store reset
            till store reset --transactions
            """)

    @Flag(help: "Clear only the transactions and their notifications.")
    var transactions = false

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        guard !transactions else {
            try common.directoryOfStore.store().write { try $0.clearSales() }
            terminal.line("Cleared the transactions and their notifications. The clocks and the settings stay.")
            return try terminal.json(["cleared": ["transactions": true]])
        }
        let result = try common.directoryOfStore.store().reset()
        terminal.line("Cleared \(Self.sentence(result)). The keys and the products stay.")
        try terminal.json(["cleared": result])
    }

    /// `3 sales, 5 notifications, the clock and the settings`.
    static func sentence(_ result: ResetResult) -> String {
        var parts = [count(result.sales, "sale"), count(result.notifications, "notification")]
        if result.clock { parts.append("the clock") }
        if result.settings { parts.append("the settings") }
        return parts.dropLast().joined(separator: ", ") + " and " + (parts.last ?? "")
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

struct StoreSales: Command {
    static let configuration = CommandConfiguration(
        "sales", "List the sales to a customer: each purchase and each subscription period.",
        examples: "till store sales alice")

    @Argument(help: "The customer.")
    var account: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let sold = try common.directoryOfStore.store().read { try $0.transactions.transactions(of: account) }
        terminal.table(
            ["TRANSACTION", "PRODUCT", "PRICE", "PURCHASED", "EXPIRES", ""],
            sold.map { sale in
                [
                    sale.transactionIdentifier, sale.productIdentifier,
                    sale.offer?.isTrial == true ? "free trial" : sale.amount.formatted,
                    sale.purchaseDate.rfc3339, sale.expiresDate?.rfc3339,
                    sale.revocation != nil ? "taken back" : sale.isUpgraded ? "upgraded" : Self.words(sale.ownership),
                ]
            }, orElse: "No sales to account \"\(account)\".")
        try terminal.json(JSONContent(answer: List(sold).json()))
    }

    private static func words(_ ownership: InAppOwnershipType) -> String {
        switch ownership {
        case .purchased: ""
        case .familyShared: "family sharing"
        case .assigned: "seat"
        }
    }
}

/// `till store serve`, also run by `till store`.
struct StoreServe: Command {
    static let configuration = CommandConfiguration(
        "serve", "Run the store: Apple's server API, verifyReceipt, and the sandbox.",
        "Test suites that run at once have a store each in memory: put /stores/NAME before the paths of their requests.",
        examples: """
            till store serve
            till store serve --products Garden.storekit --bundle-id com.example.garden
            till store serve --notifications-url http://127.0.0.1:3000/apple
            till store serve --as-apple
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free one.")
    var port = 8081

    @Option(
        help: ArgumentHelp(
            "A StoreKit configuration of Xcode. The store sells its products from now on.", valueName: "file"))
    var products: String?

    @Option(help: ArgumentHelp("The app's bundle identifier; needed with --products.", valueName: "identifier"))
    var bundleId: String?

    @Option(help: "The environment in the store's proofs: Sandbox, Production or LocalTesting.")
    var environment: AppStoreEnvironment?

    @Option(
        help: ArgumentHelp(
            "The app's number in the App Store, for proofs of the environment Production and realtime requests.",
            valueName: "number"))
    var appAppleId: Int64?

    @Option(help: ArgumentHelp("The address that receives notifications.", valueName: "url"))
    var notificationsURL: URL?

    @Option(
        help: ArgumentHelp(
            "The address at which verifiers reach the store, for the OCSP responder in its certificates (default: the address it "
                + "listens on).", valueName: "url"))
    var publicURL: URL?

    @Flag(help: "Serve TLS for Apple's host names. Clients must trust the store's own certificate authority.")
    var tls = false

    @Flag(
        help: ArgumentHelp(
            "Be Apple for unmodified clients: TLS on 127.0.0.1:443, in a network of the store's own. Prints the command that "
                + "runs a client in it."))
    var asApple = false

    @Option(help: "The lowest level that is logged: trace, debug, info, notice, warning, error or critical.")
    var logLevel: Logger.Level = .notice

    @OptionGroup var sandbox: SandboxKeyOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require((products == nil) == (bundleId == nil), "Name both --products and --bundle-id, or neither.")
        if let bundleId { try requireBundleIdentifier(bundleId) }
        try require(
            environment == nil && appAppleId == nil || products != nil,
            "Name the app with --environment or --app-apple-id: --products and --bundle-id.")
        try require(
            environment != .xcode,
            "--environment must be Sandbox, Production or LocalTesting. Proofs of Xcode come from its own test session."
        )
        try require(
            !asApple || host == "127.0.0.1" && port == 8081,
            "--as-apple serves 127.0.0.1:443. Leave out --host and --port.")
        try require((0...65_535).contains(port), "--port must be a number from 0 to 65535; it is \"\(port)\".")
    }

    func perform() async throws {
        let key = try sandbox.key()
        try OpenFiles.allow(connections: ServerConfiguration().maximumConnections)
        let data = common.dataDirectory
        try data.prepare()
        let identity = tls || asApple ? try identity(in: data) : nil
        if asApple, let namespace = try identity.map(AppleNamespace.init), !namespace.isEntered {
            try namespace.enter()
        }
        if let products, let bundleId {
            try StoreApp.keep(
                bundleId, products: products, environment: environment, appAppleIdentifier: appAppleId, in: data)
        }
        let store = try data.store()
        if let notificationsURL { _ = try store.update { $0.notificationsURL = notificationsURL } }
        var logger = Logger(label: "till.store")
        logger.logLevel = logLevel
        var configuration = ServerConfiguration()
        (configuration.host, configuration.port) = (host, asApple ? 443 : port)
        configuration.tls = identity.map { ($0.certificate, $0.key) }
        let terminal = terminal
        let client = asApple ? AppleNamespace.nsenter : nil
        let publicURL = publicURL
        try await ServiceServer.run(
            store.routes(sandboxKey: key.apiKey).router(logger: logger),
            backgroundServices: [store.notificationSending(logger: logger)], configuration: configuration,
            logger: logger
        ) { [logger] url in
            store.announceResponder(at: publicURL ?? url, logger: logger)
            terminal.line("Listening on \(url.absoluteString)")
            terminal.line(key.line)
            if let authority = identity?.authority.path { terminal.line("Authority: \(authority)") }
            if let client { terminal.line("Clients: \(client) COMMAND") }
            try? terminal.report([
                "url": url.absoluteString, "sandboxKey": key.printed, "authority": identity?.authority.path,
                "nsenter": client,
            ])
        }
    }

    /// The certificate for Apple's host names. It is made at each start, and its authority once.
    private func identity(in data: DataDirectory) throws -> ServerIdentity {
        try ServerIdentity(
            folder: data.storeFolder.appending(path: "tls", directoryHint: .isDirectory), clock: SystemClock(),
            randomness: .system)
    }
}

/// An HTTP or HTTPS address on the command line.
extension URL: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(web: argument)
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
