import Foundation
import HTTPSupport
import Proofs

/// The settings of the store.
package struct SettingsResource: Codable, Sendable {
    /// A rate by its name in StoreKitTest.
    package let timeRate: String
    /// The country of customers (ISO 3166-1 alpha-3).
    package let storefront: String
    package let locale: String
    package let isAskToBuyEnabled: Bool
    package let areInterruptedPurchasesEnabled: Bool
    package let shouldEnterBillingRetryOnRenewal: Bool
    package let isBillingGracePeriodEnabled: Bool
    /// The name of the SKError of every payment; nil for none.
    package let failureError: String?
    /// The error of each failing call.
    package let storeKitErrors: [StoreKitCall: StoreKitFailure]
    package let notificationsURL: URL?
    /// The password that `verifyReceipt` requires for subscriptions.
    package let sharedSecret: String?
    /// The status in every answer of `verifyReceipt`. Nil for the real one.
    package let verifyReceiptStatus: Int64?
    /// The rate limit of the App Store Server API. Nil for none.
    package let serverAPIRequestsPerMinute: Int?

    package init(_ settings: StoreSettings) {
        timeRate = settings.timeRate.name
        storefront = settings.storefront
        locale = settings.locale
        isAskToBuyEnabled = settings.isAskToBuyEnabled
        areInterruptedPurchasesEnabled = settings.areInterruptedPurchasesEnabled
        shouldEnterBillingRetryOnRenewal = settings.shouldEnterBillingRetryOnRenewal
        isBillingGracePeriodEnabled = settings.isBillingGracePeriodEnabled
        failureError = settings.failureError.map { (SKErrorCode(rawValue: $0) ?? .unknown).name }
        storeKitErrors = settings.simulatedErrors
        notificationsURL = settings.notificationsURL
        sharedSecret = settings.sharedSecret
        verifyReceiptStatus = settings.verifyReceiptStatus
        serverAPIRequestsPerMinute = settings.serverAPIRequestsPerMinute
    }
}

/// Changes to the settings of the store. A nil field keeps its setting. An empty string or a zero removes it.
struct SettingsChanges: SandboxRequest {
    static let fields = [
        "timeRate", "storefront", "locale", "isAskToBuyEnabled", "areInterruptedPurchasesEnabled",
        "shouldEnterBillingRetryOnRenewal", "isBillingGracePeriodEnabled", "failureError", "storeKitErrors",
        "notificationsURL", "sharedSecret", "verifyReceiptStatus", "serverAPIRequestsPerMinute",
    ]

    /// The name of a rate in StoreKitTest.
    var timeRate: String?
    var storefront: String?
    var locale: String?
    var isAskToBuyEnabled: Bool?
    var areInterruptedPurchasesEnabled: Bool?
    var shouldEnterBillingRetryOnRenewal: Bool?
    var isBillingGracePeriodEnabled: Bool?
    /// The name of an SKError.
    var failureError: String?
    /// The error of each failing call.
    var storeKitErrors: [String: String]?
    var notificationsURL: String?
    var sharedSecret: String?
    var verifyReceiptStatus: Int64?
    var serverAPIRequestsPerMinute: Int?

    private static func web(_ url: URL) -> URL? {
        ["http", "https"].contains(url.scheme) && url.host()?.isEmpty == false ? url : nil
    }

    /// - Throws: `Problem` for an invalid name or address.
    func check() throws(Problem) {
        if let notificationsURL, !notificationsURL.isEmpty, URL(string: notificationsURL).flatMap(Self.web) == nil {
            throw JSONBody.invalid("The field /notificationsURL must be an http or https URL, or empty.")
        }
        if let timeRate, TimeRate(name: timeRate) == nil {
            throw JSONBody.invalid(
                "The field /timeRate has to be a rate by its name in StoreKitTest, such as realTime.")
        }
        for (name, failure) in storeKitErrors ?? [:] {
            guard let call = StoreKitCall(rawValue: name) else {
                throw JSONBody.invalid(
                    "The names in /storeKitErrors are \(StoreKitCall.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            guard failure.isEmpty || call.failures.map(\.rawValue).contains(failure) else {
                throw JSONBody.invalid(
                    "The field /storeKitErrors/\(name) has to be empty or one of "
                        + call.failures.map(\.rawValue).joined(separator: ", ") + ".")
            }
        }
        if let failureError, !failureError.isEmpty, SKErrorCode(name: failureError) == nil {
            throw JSONBody.invalid(
                "The field /failureError has to be an SKError by its name, such as paymentCancelled.")
        }
    }

    /// Applies the changes. An empty text or a zero removes a setting.
    func apply(_ settings: inout StoreSettings) {
        if let rate = timeRate.flatMap({ TimeRate(name: $0) }) { settings.timeRate = rate }
        settings.storefront = storefront ?? settings.storefront
        settings.locale = locale ?? settings.locale
        settings.isAskToBuyEnabled = isAskToBuyEnabled ?? settings.isAskToBuyEnabled
        settings.areInterruptedPurchasesEnabled =
            areInterruptedPurchasesEnabled ?? settings.areInterruptedPurchasesEnabled
        settings.shouldEnterBillingRetryOnRenewal =
            shouldEnterBillingRetryOnRenewal ?? settings.shouldEnterBillingRetryOnRenewal
        settings.isBillingGracePeriodEnabled = isBillingGracePeriodEnabled ?? settings.isBillingGracePeriodEnabled
        if let failureError { settings.failureError = SKErrorCode(name: failureError)?.rawValue }
        for (name, failure) in storeKitErrors ?? [:] {
            guard let call = StoreKitCall(rawValue: name) else { continue }
            settings.simulatedErrors[call] = StoreKitFailure(rawValue: failure)
        }
        if let notificationsURL { settings.notificationsURL = URL(string: notificationsURL).flatMap(Self.web) }
        if let sharedSecret { settings.sharedSecret = sharedSecret.isEmpty ? nil : sharedSecret }
        if let verifyReceiptStatus {
            settings.verifyReceiptStatus = verifyReceiptStatus == 0 ? nil : verifyReceiptStatus
        }
        if let serverAPIRequestsPerMinute {
            settings.serverAPIRequestsPerMinute = serverAPIRequestsPerMinute == 0 ? nil : serverAPIRequestsPerMinute
        }
    }
}
