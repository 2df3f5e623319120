import Proofs

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
