import AppStore
import ArgumentParser
import Foundation
import Proofs

/// `till store settings`
struct StoreSettingsCommand: Command {
    /// On or off.
    enum Switch: String, CaseIterable, ExpressibleByArgument {
        case on
        case off

        var isOn: Bool { self == .on }
    }

    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Show or change the settings of the store.",
        discussion: """
            Examples:
              till store settings
              till store settings --storefront KOR --ask-to-buy on
            """)

    @Option(help: ArgumentHelp("The renewal rate of subscriptions, by its name in StoreKitTest.", valueName: "rate"))
    var timeRate: TimeRate?

    @Option(help: ArgumentHelp("The country of the storefront, such as KOR.", valueName: "country"))
    var storefront: String?

    @Option(help: "Payments wait for approval.")
    var askToBuy: Switch?

    @Option(help: "Payments fail until till store resolve.")
    var interruptedPurchases: Switch?

    @Option(help: "Renewals cannot be charged.")
    var billingIssues: Switch?

    @Option(help: "Customers keep a subscription in a grace period after a failed charge.")
    var gracePeriod: Switch?

    @Option(
        help: ArgumentHelp(
            "A StoreKit call and the error it fails with, such as purchase=networkError. Without an error, the call "
                + "works again. May be repeated.", valueName: "call=error"))
    var error: [SimulatedError] = []

    @Option(help: ArgumentHelp("The address that receives notifications.", valueName: "url"))
    var notificationsURL: ServerURL?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        let settings = try store.update { settings in
            settings.timeRate = timeRate ?? settings.timeRate
            settings.storefront = storefront ?? settings.storefront
            settings.isAskToBuyEnabled = askToBuy?.isOn ?? settings.isAskToBuyEnabled
            settings.areInterruptedPurchasesEnabled =
                interruptedPurchases?.isOn ?? settings.areInterruptedPurchasesEnabled
            settings.shouldEnterBillingRetryOnRenewal =
                billingIssues?.isOn ?? settings.shouldEnterBillingRetryOnRenewal
            settings.isBillingGracePeriodEnabled = gracePeriod?.isOn ?? settings.isBillingGracePeriodEnabled
            for error in error { settings.simulatedErrors[error.call] = error.failure }
            settings.notificationsURL = notificationsURL?.url ?? settings.notificationsURL
        }
        func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }
        for (name, value) in [
            ("time-rate", settings.timeRate.name), ("storefront", settings.storefront),
            ("ask-to-buy", word(settings.isAskToBuyEnabled)),
            ("interrupted-purchases", word(settings.areInterruptedPurchasesEnabled)),
            ("billing-issues", word(settings.shouldEnterBillingRetryOnRenewal)),
            ("grace-period", word(settings.isBillingGracePeriodEnabled)),
            (
                "error",
                settings.simulatedErrors.isEmpty
                    ? "-"
                    : settings.simulatedErrors.map { "\($0.key.rawValue)=\($0.value.rawValue)" }.sorted()
                        .joined(separator: " ")
            ),
            ("notifications-url", settings.notificationsURL?.absoluteString ?? "-"),
        ] {
            terminal.line(name.padding(toLength: 24, withPad: " ", startingAt: 0) + value)
        }
        try terminal.json(SettingsResource(settings))
    }
}

extension TimeRate: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }

    public static var allValueStrings: [String] { allCases.map(\.name) }
}

/// `--error purchase=networkError`
struct SimulatedError: ExpressibleByArgument {
    let call: StoreKitCall
    /// The error; nil if the call works again.
    let failure: StoreKitFailure?

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let call = StoreKitCall(rawValue: parts[0]) else { return nil }
        let failure = StoreKitFailure(rawValue: parts[1])
        guard parts[1].isEmpty || failure.map(call.failures.contains) == true else { return nil }
        self.call = call
        self.failure = failure
    }
}
