import AppStore
import ArgumentParser
import Catalog
import HTTPSupport
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
            StoreNotifications.self, StoreNotify.self, StoreExternalTokens.self, StoreRetention.self, StoreJudge.self,
            StoreReset.self,
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
        let queued = try common.existingStore.perform(action, on: id)
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
        help: .value("file", "A file with products (a StoreKit configuration of Xcode, to list instead)."))
    var configurationFile: String?

    @Option(help: "The language, such as ko (default: en, or else the configuration's first).")
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
        try terminal.list(["TYPE", "NAME", "PRICE", "IDENTIFIER"], rows) {
            [$0.type, $0.displayName, $0.priceWithPeriod, $0.productId]
        }
    }
}

struct StoreQueue: Command {
    static let configuration = CommandConfiguration(
        "queue", "List the transactions of the store's payment queue and their states.",
        examples: "till store queue --account alice")

    @Option(help: .account("default: every customer's"))
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let transactions = try common.existingStore.read { try $0.payments.transactions(account: account) }
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
            try common.existingStore.write { try $0.clearSales() }
            terminal.line("Cleared the transactions and their notifications. The clocks and the settings stay.")
            return try terminal.json(["cleared": ["transactions": true]])
        }
        let result = try common.existingStore.reset()
        try terminal.result("Cleared \(Self.sentence(result)). The keys and the products stay.", ["cleared": result])
    }

    /// `3 sales, 5 notifications, the clock and the settings`.
    static func sentence(_ result: ResetResult) -> String {
        var parts = [counted(result.sales, "sale"), counted(result.notifications, "notification")]
        if result.clock { parts.append("the clock") }
        if result.settings { parts.append("the settings") }
        return parts.dropLast().joined(separator: ", ") + " and " + (parts.last ?? "")
    }
}

struct StoreSales: Command {
    static let configuration = CommandConfiguration(
        "sales", "List the sales to a customer: each purchase and each subscription period.",
        examples: "till store sales alice")

    @Argument(help: "The customer.")
    var account: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let sold = try common.existingStore.read { try $0.transactions.transactions(of: account) }
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
