import Commerce
import Foundation
import HTTPSupport
import Hummingbird
import Receipts
import Store
import StrictJSON

/// The bodies that the sandbox's routes take.
enum SandboxBody {
    private static let maximumSize = 64 * 1024

    /// - Throws: `Problem`, `bodyInvalid`, for one of another shape; an empty one is an object without fields.
    static func decode<Body: SandboxRequest>(
        _ request: Request,
        _ context: ServiceContext,
        as type: Body.Type
    ) async throws -> Body {
        let collected = try await RequestBytes.collect(request, context, upTo: maximumSize)
        let bytes = collected.isEmpty ? Array("{}".utf8) : collected
        do {
            if case .object(let object) = try JSONParser.parse(bytes) {
                _ = try JSONFields(object: object, path: "", known: Body.fields)
            }
            return try CheckedJSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw invalid(sentence(error))
        } catch let error as JSONSyntaxError {
            throw invalid("The body is not JSON: \(error.message).")
        } catch is CheckedJSON.Refusal {
            throw invalid("A field of the body is too long.")
        }
    }

    static func invalid(_ detail: String) -> Problem { JSONBody.invalid(detail) }

    private static func sentence(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "The field \(path(context.codingPath + [key])) is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "The field \(path(context.codingPath)) has another type than it has to."
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            "The field \(path(context.codingPath)) has a value that it cannot have."
        default: "The body has to be a JSON object."
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { "/" + ($0.intValue.map { String($0) } ?? $0.stringValue) }.joined()
    }
}

/// A body that a route of the sandbox takes.
protocol SandboxRequest: Decodable {
    /// The names of all fields; another one is refused.
    static var fields: [String] { get }
}

struct PurchaseRequest: SandboxRequest, Sendable {
    static let fields = [
        "account", "productId", "quantity", "appAccountToken", "offerType", "offerIdentifier", "offerSignature",
        "outcome",
    ]

    let account: String
    let productId: String
    let quantity: Int?
    let appAccountToken: UUID?
    let offerType: Int?
    let offerIdentifier: String?
    let offerSignature: OfferSignature?
    let outcome: String?

    /// What a server has signed, with the names of StoreKit's `SKPaymentDiscount`.
    struct OfferSignature: Decodable, Sendable {
        let keyIdentifier: String
        let nonce: UUID
        /// In milliseconds since 1970.
        let timestamp: Int64
        /// In base64.
        let signature: String
    }

    func payment() throws(Problem) -> Payment {
        var offer: Payment.OfferChoice?
        if let offerIdentifier {
            guard let kind = offerType.flatMap(SubscriptionOffer.Kind.init), kind != .introductory else {
                throw SandboxBody.invalid(
                    "The field /offerType has to be 2 (promotional), 3 (offer code) or 4 (win-back).")
            }
            guard offerSignature == nil || kind == .promotional else {
                throw SandboxBody.invalid("The field /offerSignature is for promotional offers alone.")
            }
            offer = Payment.OfferChoice(
                kind: kind, identifier: offerIdentifier,
                signature: offerSignature.map {
                    PromotionalOfferSignature(
                        keyIdentifier: $0.keyIdentifier, nonce: $0.nonce,
                        timestamp: Timestamp(millisecondsSince1970: $0.timestamp), signature: $0.signature)
                })
        }
        return Payment(
            productIdentifier: productId, quantity: quantity ?? 1, appAccountToken: appAccountToken, offer: offer)
    }

    func paymentOutcome() throws(Problem) -> PaymentOutcome {
        guard let outcome = PaymentOutcome(name: outcome ?? "purchased") else {
            throw SandboxBody.invalid(
                "The field /outcome has to be purchased, deferred, interrupted, cancelled, notAllowed, notAvailable, or an "
                    + "SKError by name.")
        }
        return outcome
    }
}

struct RefundRequest: SandboxRequest, Sendable {
    static let fields = ["reason"]

    let reason: String?

    func requestReason() throws(Problem) -> ConsumptionRequestReason {
        guard let reason = ConsumptionRequestReason(rawValue: reason ?? "OTHER") else {
            throw SandboxBody.invalid(
                "The field /reason has to be one of "
                    + ConsumptionRequestReason.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return reason
    }

    func revocationReason() throws(Problem) -> RevocationReason {
        switch reason {
        case nil, "other": .refundedForOtherReason
        case "issue": .refundedDueToIssue
        default: throw SandboxBody.invalid("The field /reason has to be issue or other.")
        }
    }
}

struct SharingRequest: SandboxRequest, Sendable {
    static let fields = ["account"]

    let account: String
}

struct PriceIncreaseRequest: SandboxRequest, Sendable {
    static let fields = ["price", "needsConsent"]

    /// In milliunits.
    let price: Int64
    let needsConsent: Bool?
}

/// The settings to be changed; those left out stay.
struct SettingsChanges: SandboxRequest, Sendable {
    static let fields = [
        "timeRate", "storefront", "locale", "isAskToBuyEnabled", "areInterruptedPurchasesEnabled",
        "shouldEnterBillingRetryOnRenewal", "isBillingGracePeriodEnabled", "failureError", "storeKitErrors",
        "notificationsURL", "sharedSecret", "verifyReceiptStatus", "serverAPIRequestsPerMinute",
    ]

    private let timeRate: String?
    private let storefront: String?
    private let locale: String?
    private let isAskToBuyEnabled: Bool?
    private let areInterruptedPurchasesEnabled: Bool?
    private let shouldEnterBillingRetryOnRenewal: Bool?
    private let isBillingGracePeriodEnabled: Bool?
    private let failureError: String?
    private let storeKitErrors: [String: String]?
    private let notificationsURL: String?
    private let sharedSecret: String?
    private let verifyReceiptStatus: Int64?
    private let serverAPIRequestsPerMinute: Int?

    private static func web(_ url: URL) -> URL? {
        ["http", "https"].contains(url.scheme) && url.host()?.isEmpty == false ? url : nil
    }

    /// - Throws: `Problem` for a name or an address that is none.
    func check() throws(Problem) {
        if let notificationsURL, !notificationsURL.isEmpty, URL(string: notificationsURL).flatMap(Self.web) == nil {
            throw SandboxBody.invalid("The field /notificationsURL has to be an address of http or https, or empty.")
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

    /// Texts that are empty, and zeros, take a setting away.
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
