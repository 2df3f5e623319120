import ArgumentParser

/// `till store`
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
            StoreSubscription.self, StoreTime.self, StoreSettingsCommand.self, StoreNotifications.self,
            StoreReset.self,
        ],
        defaultSubcommand: StoreServe.self)
}
