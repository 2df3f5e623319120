import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The verdict on an authentic proof whose transactions were presented to the ledger.
///
/// After a success, the plugin finishes every transaction of its receipt. So a success follows only if none of them can be lost.
package struct CordovaOutcome: Sendable {
    /// The results for the transactions of the proof.
    package let lines: [Redemption.Line]
    /// The types of products by the catalog.
    package let types: [ByteKey: ProductType]

    package init(lines: [Redemption.Line], types: [ByteKey: ProductType]) {
        self.lines = lines
        self.types = types
    }

    /// The reason for a refusal; nil for a success.
    package var refusal: RedemptionError? {
        let refused = lines.filter { !$0.mayFinish }
        let temporary = refused.filter { !RevenueCatErrorRule.isPermanent($0.result.rawValue) }
        let reason =
            refused.count == lines.count
            ? temporary.first ?? refused.first
            // The App Store never delivers a finished consumable again.
            : temporary.first { !canReturn($0.productId) }
        return reason.map { .purchaseRefused($0.result) }
    }

    private func canReturn(_ product: String) -> Bool {
        types[ByteKey(product)].map { $0 != .consumable } ?? false
    }
}

/// The answer to a proof that is accepted (`SuccessPayload`).
struct CordovaAnswer: Hashable, Sendable {
    /// The bundle identifier of the app. The plugin keeps the purchases under it.
    let app: String
    let kind: CordovaRequest.Kind
    /// The identifier of the request's transaction; nil if it had none.
    let identifier: String?
    /// The version of the app that the customer first installed; nil if the proof does not state it.
    let originalApplicationVersion: String?
    /// The date of the first installation; nil if the proof does not state it.
    let originalPurchaseDate: Timestamp?
    let collection: PurchaseCollection
    /// The subscriptions for which the customer gets no introductory offer.
    let productsWithoutIntroductoryOffer: [String]
    /// The date of the answer.
    let date: Timestamp

    init(
        to request: CordovaRequest,
        app: String,
        content: VerifiedProof.Content,
        collection: PurchaseCollection,
        productsWithoutIntroductoryOffer: [String],
        date: Timestamp
    ) {
        self.app = app
        kind = request.kind
        identifier = request.identifier
        self.collection = collection
        self.productsWithoutIntroductoryOffer = productsWithoutIntroductoryOffer
        self.date = date
        let receipt: AppReceipt? = if case .appReceipt(let receipt) = content { receipt } else { nil }
        originalApplicationVersion = receipt?.originalApplicationVersion
        originalPurchaseDate = receipt?.originalPurchaseDate
    }

    var json: JSONValue {
        var transaction: JSONObject = ["type": .string(kind.rawValue)]
        if let identifier { _ = transaction.add("id", .string(identifier)) }
        if let originalApplicationVersion {
            _ = transaction.add("original_application_version", .string(originalApplicationVersion))
        }
        if let originalPurchaseDate {
            _ = transaction.add(
                "original_purchase_date_ms", .string(String(originalPurchaseDate.millisecondsSince1970)))
        }
        return .object([
            "ok": .bool(true),
            "data": .object([
                "id": .string(app),
                "latest_receipt": .bool(true),
                "transaction": .object(transaction),
                "collection": .array(collection.purchases.map(\.json)),
                "ineligible_for_intro_price": .array(productsWithoutIntroductoryOffer.map { .string($0) }),
                "date": .string(date.rfc3339),
            ]),
        ])
    }
}

/// A refusal in the plugin's form (`ErrorPayload`).
///
/// The plugin caches an answer with the status 200 for two minutes, and reports any other status to the app as a failed
/// communication. In both cases it keeps the transaction, and the App Store delivers it again.
package struct CordovaRefusal: Hashable, Sendable {
    /// The plugin's number of an error (`ErrorCode`).
    package enum Number: Int, CaseIterable, Sendable {
        case communication = 6_777_014
        case verificationFailed = 6_777_017
    }

    /// True if no later event can change the refusal.
    package let isPermanent: Bool
    /// The status of the problem, for people who read the body.
    package let status: Int
    package let message: String
    /// The seconds before a retry, as text; nil if unknown.
    package let retryAfter: String?

    package init(_ problem: Problem) {
        isPermanent = RevenueCatErrorRule.isPermanent(problem.code)
        status = problem.status
        message = problem.detail
        retryAfter = problem.headers[.retryAfter]
    }

    package var number: Number { isPermanent ? .verificationFailed : .communication }

    package var json: JSONValue {
        .object([
            "ok": .bool(false), "status": .integer(status), "code": .integer(number.rawValue),
            "message": .string(message), "data": .object(["latest_receipt": .bool(true)]),
        ])
    }

    package func response() -> Response {
        var headers: HTTPFields = [:]
        if let retryAfter { headers[.retryAfter] = retryAfter }
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(json), status: isPermanent ? .ok : .serviceUnavailable, headers: headers)
    }
}
