import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// A request body of a sandbox route.
protocol SandboxRequest: Decodable, Sendable {
    /// The names of all fields. Other fields are rejected.
    static var fields: [String] { get }
}

/// Decodes the request bodies of the sandbox's routes.
enum SandboxBody {
    private static let maximumSize = 64 * 1024

    /// - Throws: `Problem`, `bodyInvalid`, for an invalid body. An empty body is an object without fields.
    static func decode<Body: SandboxRequest>(
        _ request: Request,
        _ context: ServiceContext,
        as type: Body.Type
    ) async throws -> Body {
        let collected = try await RequestBytes.collect(request, context, upTo: maximumSize)
        let bytes = collected.isEmpty ? Array("{}".utf8) : collected
        do {
            if case .object(let object) = try JSONParser.parse(bytes) {
                _ = try JSONBody(object: object, known: Body.fields)
            }
            return try CheckedJSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw JSONBody.invalid(sentence(error))
        } catch let error as JSONSyntaxError {
            throw JSONBody.invalid("The body is not JSON: \(error.message).")
        } catch is CheckedJSON.Refusal {
            throw JSONBody.invalid("A field of the body is too long.")
        }
    }

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

/// A request to buy a product.
struct PurchaseRequest: SandboxRequest {
    static let fields = [
        "account", "productId", "quantity", "appAccountToken", "offerType", "offerIdentifier", "offerSignature",
        "outcome",
    ]

    /// The server's signature, with the field names of StoreKit's `SKPaymentDiscount`.
    struct OfferSignature: Decodable {
        let keyIdentifier: String
        let nonce: UUID
        /// The date of the signature in milliseconds since 1970.
        let timestamp: Int64
        /// The signature in base64.
        let signature: String
    }

    let account: String
    let productId: String
    /// The quantity. The default is 1.
    var quantity: Int?
    var appAccountToken: UUID?
    /// `promotional`, `offerCode` or `winBack`.
    var offerType: String?
    var offerIdentifier: String?
    /// The signature of a promotional offer.
    var offerSignature: OfferSignature?
    /// The outcome. The default is `purchased`.
    var outcome: String?

    func payment() throws(Problem) -> Payment {
        var offer: Payment.OfferChoice?
        if let offerIdentifier {
            guard let kind = offerType.flatMap(SubscriptionOffer.Kind.init(name:)), kind != .introductory else {
                throw JSONBody.invalid("The field /offerType must be promotional, offerCode or winBack.")
            }
            guard offerSignature == nil || kind == .promotional else {
                throw JSONBody.invalid("The field /offerSignature is only for promotional offers.")
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
            throw JSONBody.invalid(
                "The field /outcome has to be purchased, deferred, interrupted, cancelled, notAllowed, notAvailable, or an "
                    + "SKError by name.")
        }
        return outcome
    }
}

/// A request to refund a sale, or to request its refund.
struct RefundRequest: SandboxRequest {
    static let fields = ["reason"]

    var reason: String?

    func requestReason() throws(Problem) -> ConsumptionRequestReason {
        guard let reason = ConsumptionRequestReason(rawValue: reason ?? "OTHER") else {
            throw JSONBody.invalid(
                "The field /reason has to be one of "
                    + ConsumptionRequestReason.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return reason
    }

    func revocationReason() throws(Problem) -> RevocationReason {
        switch reason {
        case nil, "other": .refundedForOtherReason
        case "issue": .refundedDueToIssue
        default: throw JSONBody.invalid("The field /reason must be issue or other.")
        }
    }
}

/// A request to share a sale with a family member.
struct SharingRequest: SandboxRequest {
    static let fields = ["account"]

    /// The family member.
    let account: String
}

/// A request to raise the price of a subscription.
struct PriceIncreaseRequest: SandboxRequest {
    static let fields = ["price", "needsConsent"]

    /// The price in milliunits of the currency.
    let price: Int64
    /// True if the customer must consent. The default is true.
    var needsConsent: Bool?
}

/// A request to advance the store's clock.
struct TimeAdvanceRequest: SandboxRequest {
    static let fields = ["by"]

    /// A number with a unit, such as `1mo`.
    let by: String
}

/// A request to inject faults into the next notifications.
struct NotificationFaultsRequest: SandboxRequest {
    static let fields = ["faults"]

    /// The faults: `duplicate`, `reorder`, `drop` or `delay:SECONDS`.
    let faults: [String]
}
