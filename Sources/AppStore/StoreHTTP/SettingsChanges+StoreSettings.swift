import Foundation
import HTTPSupport
import Proofs

extension SettingsChanges: SandboxRequest {
    static let fields = [
        "timeRate", "storefront", "locale", "isAskToBuyEnabled", "areInterruptedPurchasesEnabled",
        "shouldEnterBillingRetryOnRenewal", "isBillingGracePeriodEnabled", "failureError", "storeKitErrors",
        "notificationsURL", "sharedSecret", "verifyReceiptStatus", "serverAPIRequestsPerMinute",
    ]

    private static func web(_ url: URL) -> URL? {
        ["http", "https"].contains(url.scheme) && url.host()?.isEmpty == false ? url : nil
    }

    /// - Throws: `Problem` for an invalid name or address.
    func check() throws(Problem) {
        if let notificationsURL, !notificationsURL.isEmpty, URL(string: notificationsURL).flatMap(Self.web) == nil {
            throw SandboxBody.invalid("The field /notificationsURL must be an http or https URL, or empty.")
        }
        if let timeRate, TimeRate(name: timeRate) == nil {
            throw SandboxBody.invalid(
                "The field /timeRate has to be a rate by its name in StoreKitTest, such as realTime.")
        }
        for (name, failure) in storeKitErrors ?? [:] {
            guard let call = StoreKitCall(rawValue: name) else {
                throw SandboxBody.invalid(
                    "The names in /storeKitErrors are \(StoreKitCall.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            guard failure.isEmpty || call.failures.map(\.rawValue).contains(failure) else {
                throw SandboxBody.invalid(
                    "The field /storeKitErrors/\(name) has to be empty or one of "
                        + call.failures.map(\.rawValue).joined(separator: ", ") + ".")
            }
        }
        if let failureError, !failureError.isEmpty, SKErrorCode(name: failureError) == nil {
            throw SandboxBody.invalid(
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
