import Foundation
import HTTPSupport
import Proofs

/// A request to buy a one-time product. A class, because the compiler crashes on a wide value in an async closure.
final class PlayPurchaseRequest: SandboxRequest {
    static let schema = Schema.object("A request to buy a one-time product.", named: "PurchaseRequest")
        .fields(fields)
        .fields([
            "products": .array(
                of: Schema.object("Another product of the order.", named: "ProductRequest").fields([
                    "productId": .text("The product."),
                    "purchaseOptionId": .text("The purchase option; the first by default.").optional,
                    "offerId": .text("An offer of the purchase option; none by default.").optional,
                ]).closed, "The products that are bought together with the first one."
            ).optional,
            "usesOneTimeCode": oneTimeCode,
            "offerToken": .text("The token with which the app chooses the offer.", length: 1...maximumTokenLength)
                .optional,
            "pointsDetails": Schema.object("The Play Points that the customer spends.", named: "PointsDetails").fields([
                "pointsOfferId": .text("The offer of the points.").optional,
                "pointsSpent": .text("The number of points.").example("100").optional,
                "pointsDiscountRateMicros": .text("The share by which they cost less, in millionths.").example("500000")
                    .optional,
                "pointsCouponValue": Schema.object("The discount that they give.", named: "CouponValue").fields([
                    "currencyCode": .text("The currency of the price.").example("USD"),
                    "units": .text("The whole units.").example("2").optional,
                    "nanos": .integer("The billionths of a unit.", in: 0...999_999_999).optional,
                ]),
            ]).optional,
        ]).closed

    /// The maximum length of a token or a code that an app or a customer gives.
    fileprivate static let maximumTokenLength = 1024

    fileprivate static let oneTimeCode = Schema.flag("True for a promotion code of this customer alone.").optional

    fileprivate static let fields: KeyValuePairs<String, Schema> = [
        "packageName": .text("The app."),
        "productId": .text("The product, or the subscription."),
        "account": .account,
        "quantity": .integer("The number of units; 1 by default.", in: 1...PlayBooks.maximumQuantity).optional,
        "purchaseOptionId": .text("The purchase option, or the base plan of a subscription; the first by default.")
            .optional,
        "offerId": .text("An offer of the purchase option or of the base plan; none by default.").optional,
        "regionCode": .text("The customer's country, such as `US`; the first of the product by default.").optional,
        "obfuscatedAccountId": .text(
            "The app's identifier of its account.", length: 1...GooglePlay.maximumObfuscatedLength
        ).optional,
        "obfuscatedProfileId": .text(
            "The app's identifier of its profile.", length: 1...GooglePlay.maximumObfuscatedLength
        ).optional,
        "isTest": .flag("True for a license tester.").optional,
        "isPending": .flag("True for a payment that is made later.").optional,
        "salesChannel": .one(of: Order.SalesChannel.self, "The place where the order is made; in the app by default.")
            .optional,
    ]

    let packageName: String
    let productId: String
    let account: String
    let quantity: Int?
    let purchaseOptionId: String?
    let offerId: String?
    let regionCode: String?
    let obfuscatedAccountId: String?
    let obfuscatedProfileId: String?
    let isTest: Bool?
    let isPending: Bool?
    private let salesChannel: Order.SalesChannel?
    private let offerToken: String?
    private let pointsDetails: Order.PointsDetails?
    private let products: [PlayProductOrder]?
    private let usesOneTimeCode: Bool?

    var order: PlayPurchaseOrder {
        var order = PlayPurchaseOrder(packageName: packageName, productId: productId, account: account)
        order.quantity = quantity ?? 1
        (order.purchaseOptionId, order.regionCode) = (purchaseOptionId, regionCode)
        order.obfuscatedAccountId = obfuscatedAccountId
        order.obfuscatedProfileId = obfuscatedProfileId
        (order.isTest, order.isPending) = (isTest ?? false, isPending ?? false)
        (order.salesChannel, order.offerToken, order.pointsDetails) = (salesChannel, offerToken, pointsDetails)
        (order.products, order.usesOneTimeCode) = (products ?? [], usesOneTimeCode ?? false)
        return order
    }
}

final class PlaySubscriptionRequest: SandboxRequest {
    static let schema = Schema.object("A request to buy a subscription.", named: "SubscriptionRequest")
        .fields(PlayPurchaseRequest.fields)
        .fields([
            "replaces": Int64.schema.described("The number of the subscription that this one replaces.").optional,
            "replacementMode": .one(of: ReplacementMode.self, "The mode of the change; Google's default without it.")
                .optional,
            "addOns": .array(
                of: Schema.object("An add-on of the subscription.", named: "AddOnRequest").fields([
                    "productId": .text("The subscription."),
                    "basePlanId": .text("The base plan; that of a kept item, or else the first by default.").optional,
                    "offerId": .text("An offer of the base plan; none by default.").optional,
                    "replacedProductId": .text("The item of the replaced subscription in whose place it comes.")
                        .optional,
                    "replacementMode": .one(
                        of: ReplacementMode.self, "The mode; an item of the same plan stays without it."
                    ).optional,
                ]).closed,
                "The add-ons. Those of the replaced subscription that are not among them leave at their ends."
            ).optional,
            "promotionCode": .text(
                "A promotion code that many customers use.", length: 1...PlayPurchaseRequest.maximumTokenLength
            ).optional,
            "usesOneTimeCode": PlayPurchaseRequest.oneTimeCode,
            "consentsToStepUp": .flag("True for a customer in Korea who consents to the price after the offer at once.")
                .optional,
        ]).closed

    let purchase: PlayPurchaseRequest
    private let replaces: Int64?
    private let replacementMode: ReplacementMode?
    private let promotionCode: String?
    private let addOns: [PlayAddOnOrder]?
    private let consentsToStepUp: Bool?

    private enum CodingKeys: String, CodingKey {
        case replaces, replacementMode, promotionCode, addOns, consentsToStepUp
    }

    init(from decoder: any Decoder) throws {
        purchase = try PlayPurchaseRequest(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        replaces = try container.decodeIfPresent(Int64.self, forKey: .replaces)
        replacementMode = try container.decodeIfPresent(ReplacementMode.self, forKey: .replacementMode)
        promotionCode = try container.decodeIfPresent(String.self, forKey: .promotionCode)
        addOns = try container.decodeIfPresent([PlayAddOnOrder].self, forKey: .addOns)
        consentsToStepUp = try container.decodeIfPresent(Bool.self, forKey: .consentsToStepUp)
    }

    var order: PlayPurchaseOrder {
        var order = purchase.order
        (order.replacedNumber, order.replacementMode) = (replaces, replacementMode)
        order.promotionCode = promotionCode
        (order.addOns, order.consentsToStepUp) = (addOns ?? [], consentsToStepUp ?? false)
        return order
    }
}

/// A request to refund units of a purchase.
struct PlayRefundRequest: SandboxRequest {
    static let schema = Schema.object("A refund.", named: "RefundRequest").fields([
        "quantity": .integer("The number of units; all that are left by default.").optional,
        "isRevoking": .flag("False to leave the goods with the customer; true by default.").optional,
        "source": .integer("Google's number of the source; the customer by default.").optional,
        "reason": .integer("Google's number of the reason; another one by default.").optional,
    ]).closed

    let quantity: Int?
    let isRevoking: Bool?
    let source: VoidedPurchase.Source?
    let reason: VoidedPurchase.Reason?
}

struct PauseRequest: SandboxRequest {
    static let schema = Schema.object("A pause.", named: "PauseRequest").fields([
        "length": .text("`P1W` to `P4W` for a weekly plan, `P1M` to `P3M` for a longer one; the shortest by default.")
            .optional
    ]).closed

    let length: SubscriptionPeriod?
}

/// The reason of a cancellation.
struct CancellationRequest: SandboxRequest {
    static let schema = Schema.object("A cancellation.", named: "CancellationRequest").fields([
        "reason": .one(
            of: SubscriptionPurchaseV2.CancelSurveyResult.Reason.self, "The customer's reason; none by default."
        ).optional,
        "reasonUserInput": .text("The customer's own words, for `CANCEL_SURVEY_REASON_OTHERS` alone.", length: 1...1024)
            .optional,
    ]).closed

    private let reason: SubscriptionPurchaseV2.CancelSurveyResult.Reason?
    private let reasonUserInput: String?

    var survey: SubscriptionPurchaseV2.CancelSurveyResult? {
        guard reason != nil || reasonUserInput != nil else { return nil }
        return .init(reason: reason ?? .others, reasonUserInput: reasonUserInput)
    }
}

/// A request to set the receiver of notifications.
struct PushRequest: SandboxRequest {
    static let schema = Schema.object("A receiver of notifications.", named: "ReceiverRequest").fields([
        "endpoint": .text("The address; nobody is notified without it.").optional,
        "audience": .text("The audience of the tokens; the address by default.").optional,
        "email": .text("The account of the tokens.").optional,
    ]).closed

    private let endpoint: String?
    private let audience: String?
    private let email: String?

    /// - Returns: Nil to notify nobody.
    /// - Throws: `Problem`, `bodyInvalid`.
    func settings() throws(Problem) -> PushSettings? {
        guard let endpoint else { return nil }
        guard let url = URL(string: endpoint), ["http", "https"].contains(url.scheme), url.host() != nil else {
            throw JSONBody.invalid("The field /endpoint has to be an HTTP or HTTPS address.")
        }
        var settings = PushSettings(endpoint: url)
        settings.audience = audience
        settings.email = email ?? PushSettings.standardEmail
        return settings
    }
}

struct TestNotificationRequest: SandboxRequest {
    static let schema = Schema.object("A test notification.", named: "TestNotificationRequest").fields([
        "packageName": .text("The app.")
    ]).closed

    let packageName: String
}

/// A request to let the next calls fail. A class, because the compiler crashes on a wide value in an async closure.
final class CallFaultRequest: SandboxRequest {
    static let schema = Schema.object("A fault of the next calls.", named: "FaultRequest").fields([
        "reason": .text("The reason of a documented error, such as `backendError`."),
        "method": .text("Google's identifier of the method, such as `purchases.subscriptionsv2.get`; each by default.")
            .optional,
        "token": .text("The purchase token of the calls; any by default.").optional,
        "status": .integer("The status; that which Google documents by default.", in: CallFault.statuses).optional,
        "calls": .integer("The number of calls; 1 by default.", in: CallFault.calls).optional,
        "isAfterwards": .flag("True to do the work of the call, and lose its answer.").optional,
    ]).closed

    private let reason: String
    private let method: String?
    private let token: String?
    private let status: Int?
    private let calls: Int?
    private let isAfterwards: Bool?

    var fault: CallFault {
        var fault = CallFault(reason: reason)
        (fault.method, fault.token, fault.status) = (method, token, status)
        (fault.calls, fault.isAfterwards) = (calls ?? 1, isAfterwards ?? false)
        return fault
    }
}

struct DisputeRequest: SandboxRequest {
    static let schema = Schema.object("A disputed payment.", named: "DisputeRequest").fields([
        "orderId": .text("The order.")
    ]).closed

    let orderId: String
}

struct ExternalTokenRequest: SandboxRequest {
    static let schema = Schema.object("A token of an app.", named: "ExternalTransactionTokenRequest").fields([
        "packageName": .text("The app."),
        "billingProgram": .one(of: BillingProgram.self, "Google's program."),
    ]).closed

    let packageName: String
    let billingProgram: BillingProgram
}

struct ExternalAppRequest: SandboxRequest {
    static let schema = Schema.object("An app outside Google Play.", named: "ExternalAppRequest").fields([
        "packageName": .text("The app that links to it."),
        "installedAppPackage": .text("Its package name.", length: 1...PackageName.maximumLength),
        "category": .one(of: ExternalApp.Category.self, "Its category."),
    ]).closed

    let packageName: String
    let installedAppPackage: String
    let category: ExternalApp.Category
}

struct ServiceAccountRequest: SandboxRequest {
    static let schema = Schema.object("A service account.", named: "ServiceAccountRequest").fields([
        "packageNames": .array(of: .text(), "The apps that the account may ask about; all by default.").optional
    ]).closed

    let packageNames: [String]?
}
