import HTTPSupport
import HTTPTypes

/// A method of the Play Developer API, by its identifier in Google's discovery document. `CatalogMethods.swift` has those on catalogs.
struct PublisherMethod: Sendable {
    let identifier: String
    let method: HTTPRequest.Method
    let pattern: PublisherPattern
    /// The answer as JSON; nil for a method without one.
    let handle: @Sendable (PublisherCall, PlayBooks) throws -> [UInt8]?

    private init(
        _ identifier: String, _ method: HTTPRequest.Method, _ pattern: String,
        _ handle: @escaping @Sendable (PublisherCall, PlayBooks) throws -> [UInt8]?
    ) {
        (self.identifier, self.method, self.handle) = (identifier, method, handle)
        self.pattern = PublisherPattern(pattern)
    }

    static func answering(
        _ identifier: String, _ method: HTTPRequest.Method, _ pattern: String,
        _ handle: @escaping @Sendable (PublisherCall, PlayBooks) throws -> some Encodable & SendableMetatype
    ) -> PublisherMethod {
        PublisherMethod(identifier, method, pattern) { try JSONAnswer.encode(try handle($0, $1)) }
    }

    /// A method without an answer.
    static func silent(
        _ identifier: String, _ method: HTTPRequest.Method, _ pattern: String,
        _ handle: @escaping @Sendable (PublisherCall, PlayBooks) throws -> Void
    ) -> PublisherMethod {
        PublisherMethod(identifier, method, pattern) { call, books in
            try handle(call, books)
            return nil
        }
    }

    /// The methods that the local Play serves.
    static let all =
        purchases + subscriptions + orders + externalTransactions + subscriptionProducts + oneTimeProducts
        + inAppProducts

    private static let purchases: [PublisherMethod] = [
        .answering("purchases.products.get", .get, "purchases/products/{productId}/tokens/{token}") {
            try $0.purchase(in: $1, of: $0.text("productId")).productPurchase
        },
        .silent(
            "purchases.products.acknowledge", .post, "purchases/products/{productId}/tokens/{token}:acknowledge"
        ) {
            let purchase = try $0.purchase(in: $1, of: $0.text("productId"))
            try $1.acknowledge(purchase, payload: $0.json(AcknowledgeRequest.self).developerPayload)
        },
        .silent("purchases.products.consume", .post, "purchases/products/{productId}/tokens/{token}:consume") {
            try $1.consume($0.purchase(in: $1, of: $0.text("productId")))
        },
        .answering("purchases.productsv2.getproductpurchasev2", .get, "purchases/productsv2/tokens/{token}") {
            try $0.purchase(in: $1).productPurchaseV2
        },
        .answering("purchases.voidedpurchases.list", .get, "purchases/voidedpurchases") {
            let query = try VoidedPurchaseQuery($0.parameters, now: $1.now, latest: $1.latestTime())
            return try $1.voidedPurchases(of: $0.packageName, query)
        },
    ]

    private static let subscriptions: [PublisherMethod] = [
        .answering("purchases.subscriptionsv2.get", .get, "purchases/subscriptionsv2/tokens/{token}") {
            try $0.subscription(in: $1).subscriptionPurchase(at: $1.now)
        },
        .answering("purchases.subscriptionsv2.cancel", .post, "purchases/subscriptionsv2/tokens/{token}:cancel") {
            let type = try $0.json(SubscriptionRequests.Cancel.self).cancellationContext?.cancellationType
            try $1.cancel($0.subscription(in: $1), type)
            return EmptyObject()
        },
        .answering("purchases.subscriptionsv2.defer", .post, "purchases/subscriptionsv2/tokens/{token}:defer") {
            try $1.deferRenewal($0.subscription(in: $1), $0.json())
        },
        .answering("purchases.subscriptionsv2.revoke", .post, "purchases/subscriptionsv2/tokens/{token}:revoke") {
            try $1.revoke($0.subscription(in: $1), $0.json())
            return EmptyObject()
        },
        // The product may be left out of the path.
        .silent(
            "purchases.subscriptions.acknowledge", .post,
            "purchases/subscriptions/{subscriptionId}/tokens/{token}:acknowledge"
        ) {
            let purchase = try $0.subscription(in: $1, of: $0.optionalText("subscriptionId"))
            try $1.acknowledge(purchase, $0.json())
        },
        .silent(
            "purchases.subscriptions.cancel", .post, "purchases/subscriptions/{subscriptionId}/tokens/{token}:cancel"
        ) {
            let purchase = try $0.subscription(in: $1, of: $0.optionalText("subscriptionId"))
            try $1.cancel(purchase, "USER_REQUESTED_STOP_RENEWALS")
        },
        .answering(
            "purchases.subscriptions.defer", .post, "purchases/subscriptions/{subscriptionId}/tokens/{token}:defer"
        ) { try $1.deferExpiry($0.subscription(in: $1, of: $0.text("subscriptionId")), $0.json()) },
        // Newer libraries lack these three, and "existing libraries can still access them until the shutdown date", 31 August 2027
        // (Google's page "Deprecations").
        .answering("purchases.subscriptions.get", .get, "purchases/subscriptions/{subscriptionId}/tokens/{token}") {
            SubscriptionPurchase(try $0.subscription(in: $1, of: $0.text("subscriptionId")))
        },
        .silent(
            "purchases.subscriptions.refund", .post, "purchases/subscriptions/{subscriptionId}/tokens/{token}:refund"
        ) { try $1.refund($0.subscription(in: $1, of: $0.text("subscriptionId"))) },
        .silent(
            "purchases.subscriptions.revoke", .post, "purchases/subscriptions/{subscriptionId}/tokens/{token}:revoke"
        ) {
            let purchase = try $0.subscription(in: $1, of: $0.text("subscriptionId"))
            try $1.revoke(purchase, .init(revocationContext: .init(fullRefund: .init())))
        },
    ]

    private static let orders: [PublisherMethod] = [
        .answering("orders.get", .get, "orders/{orderId}") {
            try $1.order($0.text("orderId"), in: $0.packageName)
        },
        .answering("orders.batchget", .get, "orders:batchGet") {
            try $1.orders($0.parameters.all("orderIds"), in: $0.packageName)
        },
        .silent("orders.refund", .post, "orders/{orderId}:refund") {
            try $1.refundOrder(
                $0.text("orderId"), isRevoking: $0.parameters.flag("revoke") ?? false, in: $0.packageName)
        },
        .silent("orders.reviewrefund", .post, "orders/{orderId}:reviewrefund") {
            try $1.review($0.json(), ofOrder: $0.text("orderId"), in: $0.packageName)
        },
    ]

    private static let externalTransactions: [PublisherMethod] = [
        .answering("externaltransactions.createexternaltransaction", .post, "externalTransactions") {
            try $1.report($0.json(), identifier: $0.parameters["externalTransactionId"], of: $0.packageName)
        },
        .answering(
            "externaltransactions.getexternaltransaction", .get, "externalTransactions/{externalTransactionId}"
        ) { try $1.reported($0.text("externalTransactionId"), of: $0.packageName) },
        .answering(
            "externaltransactions.refundexternaltransaction", .post,
            "externalTransactions/{externalTransactionId}:refund"
        ) { try $1.refund($0.text("externalTransactionId"), $0.json(), of: $0.packageName) },
    ]
}
