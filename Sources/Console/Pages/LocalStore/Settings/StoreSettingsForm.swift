import AppStore
import Foundation
import HTTPSupport
import Proofs

/// The form of the store's settings.
struct StoreSettingsForm {
    /// The maximum length of an address, in bytes.
    private static let maximumAddressLength = 1024

    let context: ConsoleContext
    let settings: StoreSettings

    var html: HTML {
        context.form(to: LocalStoreTab.settings.path) {
            div(.class("columns")) {
                card("Customer") {
                    Field.choice(
                        "storefront", "Storefront",
                        Storefront.all.map {
                            ($0.countryCode, Phrase(same: "\($0.countryCode) (\($0.currency))"))
                        }, chosen: settings.storefront)
                    Field.text("locale", "Locale", value: settings.locale, maximumLength: 32, isRequired: true)
                    Field.checkbox("ask-to-buy", StoreConditions.askToBuy, isChecked: settings.isAskToBuyEnabled)
                    Field.checkbox(
                        "interrupted-purchases", StoreConditions.interruptedPurchases,
                        isChecked: settings.areInterruptedPurchasesEnabled)
                }
                card("Subscriptions") {
                    Field.choice(
                        "time-rate", "Time rate",
                        TimeRate.allCases.map { ($0.name, Phrase(same: $0.name)) }, chosen: settings.timeRate.name)
                    Field.checkbox(
                        "failing-renewals", StoreConditions.failingRenewals,
                        isChecked: settings.shouldEnterBillingRetryOnRenewal)
                    Field.checkbox(
                        "grace-period", StoreConditions.gracePeriod, isChecked: settings.isBillingGracePeriodEnabled)
                }
                errors
                card("Server") {
                    Field.text(
                        "notifications-url", "Address of notifications",
                        value: settings.notificationsURL?.absoluteString ?? "",
                        maximumLength: Self.maximumAddressLength,
                        note: "Empty sends no notifications.")
                    Field.text(
                        "shared-secret", "Shared secret of verifyReceipt",
                        value: settings.sharedSecret ?? "", note: "Empty accepts any.")
                    Field.number(
                        "receipt-status", "Status that verifyReceipt always answers",
                        value: settings.verifyReceiptStatus.map(String.init) ?? "",
                        note: "Empty answers the real status.")
                    Field.number(
                        "requests-per-minute",
                        "App Store Server API requests a minute",
                        value: settings.serverAPIRequestsPerMinute.map(String.init) ?? "",
                        note: "Empty sets no limit.")
                }
            }
            button(.class("primary")) { "Save" }
        }
    }

    private var errors: HTML {
        card("Simulated errors") {
            Field.choice(
                "failure-error", "SKError of every payment",
                [("", Self.none)] + SKErrorCode.allCases.map { ($0.name, Phrase(same: $0.name)) },
                chosen: settings.failureError.map { (SKErrorCode(rawValue: $0) ?? .unknown).name } ?? "")
            for call in StoreKitCall.allCases {
                Field.choice(
                    Self.field(call), Phrase(same: call.rawValue),
                    [("", Self.none)] + call.failures.map { ($0.rawValue, Phrase(same: $0.rawValue)) },
                    chosen: settings.simulatedErrors[call]?.rawValue ?? "")
            }
        }
    }

    private static let none = Phrase("No error")

    private static func field(_ call: StoreKitCall) -> String { "error-" + call.rawValue }

    /// Reads the settings of a form.
    ///
    /// - Returns: A closure that applies them. It changes nothing else.
    static func changes(_ form: ConsoleForm) throws -> @Sendable (inout StoreSettings) -> Void {
        let storefront = try form.requiredText("storefront", upTo: 3)
        let locale = try form.requiredText("locale", upTo: 32)
        guard let timeRate = TimeRate(name: try form.text("time-rate")) else {
            throw ConsoleForm.invalid("time-rate", "a rate by its name in StoreKitTest")
        }
        let failure = try choice(form, "failure-error", of: "an SKError by its name") { SKErrorCode(name: $0) }
        let address = try choice(form, "notifications-url", upTo: maximumAddressLength, of: "an http or https URL", web)
        let status = try form.integer("receipt-status").map(Int64.init)
        let requests = try form.integer("requests-per-minute")
        guard requests ?? 1 >= 1 else { throw ConsoleForm.invalid("requests-per-minute", "at least 1, or empty") }
        let secret = try form.text("shared-secret")
        var errors: [StoreKitCall: StoreKitFailure] = [:]
        for call in StoreKitCall.allCases {
            errors[call] = try choice(form, field(call), of: "an error of the call") { name in
                call.failures.first { $0.rawValue == name }
            }
        }
        let switches = ["ask-to-buy", "interrupted-purchases", "failing-renewals", "grace-period"].map(form.isChecked)
        return { [errors] settings in
            settings.storefront = storefront
            settings.locale = locale
            settings.timeRate = timeRate
            settings.isAskToBuyEnabled = switches[0]
            settings.areInterruptedPurchasesEnabled = switches[1]
            settings.shouldEnterBillingRetryOnRenewal = switches[2]
            settings.isBillingGracePeriodEnabled = switches[3]
            settings.failureError = failure?.rawValue
            settings.simulatedErrors = errors
            settings.notificationsURL = address
            settings.sharedSecret = secret.isEmpty ? nil : secret
            settings.verifyReceiptStatus = status == 0 ? nil : status
            settings.serverAPIRequestsPerMinute = requests.map(Int64.init)
        }
    }

    /// The value of a field; nil if the field is empty.
    private static func choice<Value>(
        _ form: ConsoleForm,
        _ name: String,
        upTo maximumLength: Int = JSONBody.maximumLength,
        of expected: String,
        _ parse: (String) -> Value?
    ) throws(Problem) -> Value? {
        let text = try form.text(name, upTo: maximumLength)
        guard !text.isEmpty else { return nil }
        guard let value = parse(text) else { throw ConsoleForm.invalid(name, expected) }
        return value
    }

    private static func web(_ text: String) -> URL? {
        URL(string: text).flatMap { url in
            ["http", "https"].contains(url.scheme) && url.host()?.isEmpty == false ? url : nil
        }
    }
}

/// The simulated conditions that are set now.
struct StoreConditions {
    let settings: StoreSettings
    let faults: [NotificationFault]

    @HTMLBuilder var list: HTML {
        let shown = conditions
        p {
            "Storefront"
            plain(": ")
            Shown.identifier(settings.storefront)
            plain(" · ")
            "time rate"
            plain(": ")
            Shown.identifier(settings.timeRate.name)
        }
        if shown.isEmpty {
            emptyNote("Purchases and renewals succeed.")
        } else {
            ul { for condition in shown { li { condition } } }
        }
    }

    private var conditions: [HTML] {
        let switches: [(Bool, Phrase)] = [
            (settings.isAskToBuyEnabled, Self.askToBuy),
            (settings.areInterruptedPurchasesEnabled, Self.interruptedPurchases),
            (settings.shouldEnterBillingRetryOnRenewal, Self.failingRenewals),
            (settings.isBillingGracePeriodEnabled, Self.gracePeriod),
            (settings.notificationsURL == nil, "Notifications are not sent"),
        ]
        var shown = switches.filter(\.0).map { condition in HTML { condition.1 } }
        if let error = settings.failureError {
            shown.append(
                HTML {
                    "Payments fail with"
                    plain(" ")
                    Shown.identifier((SKErrorCode(rawValue: error) ?? .unknown).name)
                })
        }
        for (call, failure) in settings.simulatedErrors.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            shown.append(
                HTML {
                    Shown.identifier(call.rawValue)
                    plain(" ")
                    "fails with"
                    plain(" ")
                    Shown.identifier(failure.rawValue)
                })
        }
        if !faults.isEmpty {
            shown.append(
                HTML {
                    "Faults of the next notifications"
                    plain(": ")
                    Shown.identifier(faults.prefix(10).map(\.name).joined(separator: ", "))
                    if faults.count > 10 { plain(" … (\(faults.count))") }
                })
        }
        return shown
    }

    static let askToBuy = Phrase("Ask to Buy: payments wait for approval")
    static let interruptedPurchases = Phrase("Interrupted purchases: payments fail until they are resolved")
    static let failingRenewals = Phrase("Billing retry: renewals cannot be charged")
    static let gracePeriod = Phrase("Billing grace period after a failed renewal")
}
