import AppStore
import ArgumentParser
import Catalog
import Foundation
import HTTPSupport
import Proofs

struct StoreSettingsCommand: Command {
    /// On or off.
    enum Switch: String, CaseIterable, ExpressibleByArgument {
        case on
        case off
    }

    static let configuration = CommandConfiguration(
        "settings", "Show or change the settings of the store.",
        examples: """
            till store settings
            till store settings --storefront KOR --ask-to-buy on
            """)

    @Option(help: .value("rate", "The renewal rate of subscriptions, by its name in StoreKitTest."))
    var timeRate: TimeRate?

    @Option(help: .value("country", "The country of the storefront, such as USA."))
    var storefront: String?

    @Option(help: "Payments wait for approval.")
    var askToBuy: Switch?

    @Option(help: "Payments fail until `till store resolve`.")
    var interruptedPurchases: Switch?

    @Option(help: "Renewals cannot be charged.")
    var billingIssues: Switch?

    @Option(help: "Customers keep a subscription in a grace period after a failed charge.")
    var gracePeriod: Switch?

    @Option(
        help: .value(
            "call=error",
            "A StoreKit call and the error it fails with, such as purchase=networkError. Without an error, the call works again. May be repeated."
        ))
    var error: [SimulatedError] = []

    @Option(help: .value("url", "The address that receives notifications."))
    var notificationsURL: URL?

    @Option(help: "The language, such as ko (of the customers; with a country, en_US).")
    var locale: String?

    @Option(help: .value("error", "The SKError of every payment, such as paymentCancelled; empty for none."))
    var failureError: String?

    @Option(help: .value("secret", "The password that verifyReceipt asks for; empty for any."))
    var sharedSecret: String?

    @Option(help: .value("number", "The status that verifyReceipt always answers; empty for the real one."))
    var receiptStatus: String?

    @Option(help: .value("number", "The limit of requests of the App Store Server API; empty for none."))
    var requestsPerMinute: String?

    @Option(
        help: .value(
            "number", "The error of every request of the App Store Server API, such as 4040002; empty for none."))
    var serverAPIError: String?

    @Option(
        help: .value(
            "state",
            "The state of the certificates for verifiers with online checks, such as revokedLeaf; empty for good."))
    var certificateStatus: String?

    @Option(help: .value("state", "App Review's decision on retention messages: PENDING or REJECTED; empty approves."))
    var retentionMessageState: String?

    @Option(help: .value("state", "The same on the images of retention messages."))
    var retentionImageState: String?

    @OptionGroup var common: CommonOptions

    /// The changes of the settings with a text. The store itself checks the storefront.
    private func changes() throws(ValidationError) -> [StoreSetting.Change] {
        let texts = [
            "time-rate": timeRate?.name, "locale": locale, "ask-to-buy": askToBuy?.rawValue,
            "interrupted-purchases": interruptedPurchases?.rawValue, "billing-issues": billingIssues?.rawValue,
            "grace-period": gracePeriod?.rawValue, "notifications-url": notificationsURL?.absoluteString,
            "failure-error": failureError, "shared-secret": sharedSecret, "receipt-status": receiptStatus,
            "requests-per-minute": requestsPerMinute, "server-api-error": serverAPIError,
            "certificate-status": certificateStatus, "retention-message-state": retentionMessageState,
            "retention-image-state": retentionImageState,
        ]
        var changes: [StoreSetting.Change] = []
        for setting in StoreSetting.all {
            guard let text = texts[setting.option] ?? nil else { continue }
            do { changes.append(try setting.change(to: text)) } catch { throw ValidationError(error.sentence) }
        }
        return changes
    }

    func validate() throws { _ = try changes() }

    func perform() async throws {
        let (store, changes) = (try common.existingStore, try changes())
        let settings = try store.update { settings in
            for change in changes { change(&settings) }
            settings.storefront = storefront ?? settings.storefront
            for error in error { settings.simulatedErrors[error.call] = error.failure }
        }
        for setting in StoreSetting.all {
            terminal.line(setting.option.padding(toLength: 24, withPad: " ", startingAt: 0) + setting.words(settings))
        }
        try terminal.json(SettingsResource(settings))
    }
}

extension TimeRate: NamedArgument {}

/// `--error purchase=networkError`
struct SimulatedError: ExpressibleByArgument {
    let call: StoreKitCall
    /// The error; nil if the call works again.
    let failure: StoreKitFailure?

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let call = StoreKitCall(rawValue: parts[0]) else { return nil }
        self.call = call
        failure = call.failure(named: parts[1])
        guard parts[1].isEmpty || failure != nil else { return nil }
    }
}

struct StoreNotifications: Command {
    static let configuration = CommandConfiguration(
        "notifications", "List the notifications and their deliveries; send one again, or disturb the next ones.",
        examples: """
            till store notifications
            till store notifications --replay 6f9619ff-8b86-d011-b42d-00c04fc964ff
            till store notifications --fault duplicate --fault delay:30
            """)

    @Option(help: .value("uuid", "The notification to send again."))
    var replay: String?

    @Option(
        help: .value(
            "fault", "A fault of the next notification: duplicate, reorder, drop or delay:SECONDS; may be repeated."))
    var fault: [NotificationFault] = []

    @Flag(help: "Clear the faults of the next notifications.")
    var clearFaults = false

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.existingStore
        if clearFaults {
            try store.clearFaults()
            terminal.line("The next notifications have no faults of before.")
        }
        if let replay {
            guard let uuid = UUID(uuidString: replay) else {
                throw ValidationError("--replay must be a UUID; it is \"\(replay.prefix(64))\".")
            }
            try store.write { try $0.replay(uuid) }
            terminal.line("Notification \(uuid.uuidString.lowercased()) is queued to be sent again.")
        }
        if !fault.isEmpty {
            try store.write { try $0.add(fault) }
            terminal.line("The faults of the next notifications: \(fault.map(\.name).joined(separator: ", ")).")
        }
        if replay != nil { try terminal.noteMissingAddress(of: store, common) }
        let notifications = try store.read { try $0.notifications.notifications() }
        terminal.table(
            ["UUID", "DATE", "TYPE", "SUBTYPE", "TRANSACTION", "SENT"],
            notifications.map { notification in
                let results = notification.sendAttempts.map(\.result.rawValue)
                return [
                    notification.notificationUUID.uuidString.lowercased(), notification.date.rfc3339,
                    notification.type.rawValue, notification.subtype?.rawValue, notification.transactionIdentifier,
                    results.isEmpty ? nil : results.joined(separator: " "),
                ]
            }, orElse: "No notifications.")
        try terminal.report([
            "notifications": try notifications.map { try JSONContent(answer: $0.json()) },
            "replayed": replay?.lowercased(),
            "faults": fault.isEmpty ? nil : fault.map(\.name),
        ])
    }
}

struct StoreNotify: Command {
    static let configuration = CommandConfiguration(
        "notify", "Send a notification that no sale brings about.",
        """
        EXTERNAL_PURCHASE_TOKEN is about the app, and has a subtype: UNREPORTED, CREATED or ACTIVE_TOKEN_REMINDER. METADATA_UPDATE, \
        MIGRATION and PRICE_CHANGE are about a subscription: name any of its transactions. RESCIND_CONSENT is about a customer: \
        name the account.
        """,
        examples: """
            till store notify EXTERNAL_PURCHASE_TOKEN --subtype UNREPORTED
            till store notify PRICE_CHANGE --transaction 2000000123456789
            till store notify RESCIND_CONSENT --account alice
            """)

    @Argument(help: .value("type", "The type, by Apple's name."))
    var type: String

    @Option(help: "The subtype, by Apple's name.")
    var subtype: String?

    @Option(help: "The transaction (any of the subscription).")
    var transaction: String?

    @Option(help: .account())
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.existingStore
        let demanded = try NotificationOnDemand(type: type, subtype: subtype)
        let notification = try store.write {
            try $0.notify(demanded, transactionIdentifier: transaction, account: account)
        }
        terminal.line(
            "Notification \(notification.notificationUUID.uuidString.lowercased()) is queued: \(demanded.name).")
        try terminal.noteMissingAddress(of: store, common)
        try terminal.json(JSONContent(answer: notification.json()))
    }
}

struct StoreExternalTokens: Command {
    static let configuration = CommandConfiguration(
        "external-tokens",
        "List the tokens of purchases outside the App Store with their reported status, or make one.",
        """
        The app would get the token, and its server reports it at /externalPurchase/v1/reports. The store tells of a token with a type \
        (CREATED), and of one that stays unreported (UNREPORTED).
        """,
        examples: """
            till store external-tokens
            till store external-tokens --make
            till store external-tokens --make --token-type SERVICES
            """)

    @Flag(help: "Make a token.")
    var make = false

    @Option(
        help: .value(
            "type", "The type of a custom link token: ACQUISITION, SERVICES, IN_APP or LINK_OUT (default: no type)."))
    var tokenType: ExternalPurchaseToken.Kind?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require(make || tokenType == nil, "--token-type is the type of a new token. Add --make.")
    }

    func perform() async throws {
        let (store, type) = (try common.existingStore, tokenType)
        if make {
            let token = try store.write { try $0.makeExternalPurchaseToken(type) }
            terminal.line("Token \(token.externalPurchaseId) is made:")
            terminal.line(token.text)
            if type != nil { try terminal.noteMissingAddress(of: store, common) }
            return try terminal.json(JSONContent(answer: token.json()))
        }
        let tokens = try store.read { try $0.externalPurchases.tokens() }
        terminal.table(
            ["TOKEN", "TYPE", "CREATED", "EXPIRES", "REPORTED AS"],
            tokens.map {
                [
                    $0.externalPurchaseId, $0.kind?.rawValue, $0.creationDate.rfc3339, $0.expirationDate?.rfc3339,
                    $0.status,
                ]
            }, orElse: "No tokens. Make one with `till store external-tokens --make`.")
        try terminal.json(JSONContent(answer: List(tokens).json()))
    }
}

extension ExternalPurchaseToken.Kind: ExpressibleByArgument {}

extension Terminal {
    /// Prints a remark if the store has no address for notifications.
    fileprivate func noteMissingAddress(of store: Store, _ common: CommonOptions) throws {
        guard try store.settings().notificationsURL == nil else { return }
        note(
            "Notifications have no address: set one with "
                + common.hint("store", "settings", "--notifications-url", "URL") + ".")
    }
}

extension NotificationFault: NamedArgument {}
