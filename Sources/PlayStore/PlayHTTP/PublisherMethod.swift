import HTTPSupport
import HTTPTypes
import Proofs

/// A method of the Play Developer API, by its identifier in Google's discovery document.
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

    /// A method with an answer.
    private static func answering(
        _ identifier: String, _ method: HTTPRequest.Method, _ pattern: String,
        _ handle: @escaping @Sendable (PublisherCall, PlayBooks) throws -> some Encodable & SendableMetatype
    ) -> PublisherMethod {
        PublisherMethod(identifier, method, pattern) { try JSONAnswer.encode(try handle($0, $1)) }
    }

    /// A method without an answer.
    private static func silent(
        _ identifier: String, _ method: HTTPRequest.Method, _ pattern: String,
        _ handle: @escaping @Sendable (PublisherCall, PlayBooks) throws -> Void
    ) -> PublisherMethod {
        PublisherMethod(identifier, method, pattern) { call, books in
            try handle(call, books)
            return nil
        }
    }

    /// The methods that the local Play serves.
    static let all = purchases + subscriptions + orders + products + subscriptionProducts

    private static let purchases: [PublisherMethod] = [
        .answering("purchases.products.get", .get, "purchases/products/{productId}/tokens/{token}") {
            try $1.apiPurchase($0.text("token"), of: $0.text("productId"), in: $0.packageName).productPurchase
        },
        .silent(
            "purchases.products.acknowledge", .post, "purchases/products/{productId}/tokens/{token}:acknowledge"
        ) {
            let purchase = try $1.apiPurchase($0.text("token"), of: $0.text("productId"), in: $0.packageName)
            try $1.acknowledge(purchase, payload: $0.json(AcknowledgeRequest.self).developerPayload)
        },
        .silent("purchases.products.consume", .post, "purchases/products/{productId}/tokens/{token}:consume") {
            try $1.consume($1.apiPurchase($0.text("token"), of: $0.text("productId"), in: $0.packageName))
        },
        .answering("purchases.productsv2.getproductpurchasev2", .get, "purchases/productsv2/tokens/{token}") {
            try $1.apiPurchase($0.text("token"), of: nil, in: $0.packageName).productPurchaseV2
        },
        .answering("purchases.voidedpurchases.list", .get, "purchases/voidedpurchases") {
            try $1.voidedPurchases(of: $0.packageName, VoidedPurchaseQuery($0.parameters, now: $1.now))
        },
    ]

    private static let subscriptions: [PublisherMethod] = [
        .answering("purchases.subscriptionsv2.get", .get, "purchases/subscriptionsv2/tokens/{token}") {
            try $1.apiSubscription($0.text("token"), in: $0.packageName).subscriptionPurchase(at: $1.now)
        },
        .answering("purchases.subscriptionsv2.cancel", .post, "purchases/subscriptionsv2/tokens/{token}:cancel") {
            let type = try $0.json(SubscriptionRequests.Cancel.self).cancellationContext?.cancellationType
            try $1.cancel($1.apiSubscription($0.text("token"), in: $0.packageName), type)
            return SubscriptionRequests.Done()
        },
        .answering("purchases.subscriptionsv2.defer", .post, "purchases/subscriptionsv2/tokens/{token}:defer") {
            try $1.deferRenewal($1.apiSubscription($0.text("token"), in: $0.packageName), $0.json())
        },
        .answering("purchases.subscriptionsv2.revoke", .post, "purchases/subscriptionsv2/tokens/{token}:revoke") {
            try $1.revoke($1.apiSubscription($0.text("token"), in: $0.packageName), $0.json())
            return SubscriptionRequests.Done()
        },
        // The product may be left out of the path.
        .silent(
            "purchases.subscriptions.acknowledge", .post,
            "purchases/subscriptions/{subscriptionId}/tokens/{token}:acknowledge"
        ) {
            let purchase = try $1.apiSubscription(
                $0.text("token"), of: $0.optionalText("subscriptionId"), in: $0.packageName)
            try $1.acknowledge(purchase, $0.json())
        },
        .silent(
            "purchases.subscriptions.cancel", .post, "purchases/subscriptions/{subscriptionId}/tokens/{token}:cancel"
        ) {
            let purchase = try $1.apiSubscription(
                $0.text("token"), of: $0.optionalText("subscriptionId"), in: $0.packageName)
            try $1.cancel(purchase, "USER_REQUESTED_STOP_RENEWALS")
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
    ]

    private static let products: [PublisherMethod] = [
        .answering("monetization.onetimeproducts.get", .get, "oneTimeProducts/{productId}") {
            try $1.apiProduct($0.text("productId"), in: $0.packageName)
        },
        .answering("monetization.onetimeproducts.list", .get, "oneTimeProducts") {
            try $1.apiProducts(in: $0.packageName, $0.parameters)
        },
        .answering("monetization.onetimeproducts.batchGet", .get, "oneTimeProducts:batchGet") {
            try $1.apiProducts($0.parameters.all("productIds"), in: $0.packageName)
        },
        // Google spells this path alone in small letters.
        .answering("monetization.onetimeproducts.patch", .patch, "onetimeproducts/{productId}") {
            var product = try $0.json(OneTimeProduct.self)
            let productId = try $0.text("productId")
            guard product.productId.map({ $0 == productId }) ?? true else {
                throw PublisherError.invalidValue("oneTimeProduct.productId", "it has to be that of the path.")
            }
            product.productId = productId
            let request = OneTimeProductRequests.Update(
                oneTimeProduct: product, updateMask: $0.parameters["updateMask"],
                allowMissing: try $0.parameters.flag("allowMissing"),
                regionsVersion: .init(version: $0.parameters["regionsVersion.version"]))
            return try $1.update(request, in: $0.packageName)
        },
        .silent("monetization.onetimeproducts.delete", .delete, "oneTimeProducts/{productId}") {
            try $1.delete($0.text("productId"), in: $0.packageName)
        },
        .answering("monetization.onetimeproducts.batchUpdate", .post, "oneTimeProducts:batchUpdate") {
            try $1.update($0.json(OneTimeProductRequests.BatchUpdate.self), in: $0.packageName)
        },
        .silent("monetization.onetimeproducts.batchDelete", .post, "oneTimeProducts:batchDelete") {
            try $1.delete($0.json(OneTimeProductRequests.BatchDelete.self), in: $0.packageName)
        },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.batchUpdateStates", .post,
            "oneTimeProducts/{productId}/purchaseOptions:batchUpdateStates"
        ) {
            try $1.update(
                $0.json(OneTimeProductRequests.BatchUpdateStates.self), of: $0.text("productId"), in: $0.packageName)
        },
    ]
    private static let subscriptionProducts: [PublisherMethod] = [
        .answering("monetization.subscriptions.get", .get, "subscriptions/{productId}") {
            try $1.apiSubscriptionProduct($0.text("productId"), in: $0.packageName)
        },
        .answering("monetization.subscriptions.list", .get, "subscriptions") {
            try $1.apiSubscriptionProducts(in: $0.packageName, $0.parameters)
        },
        .answering("monetization.subscriptions.batchGet", .get, "subscriptions:batchGet") {
            try $1.apiSubscriptionProducts($0.parameters.all("productIds"), in: $0.packageName)
        },
        .answering("monetization.subscriptions.create", .post, "subscriptions") {
            try $1.create($0.json(CatalogSubscription.self), $0.parameters, in: $0.packageName)
        },
        .answering(
            "monetization.subscriptions.basePlans.activate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}:activate"
        ) {
            try $1.set(.active, ofBasePlan: $0.text("basePlanId"), of: $0.text("productId"), in: $0.packageName)
        },
        .answering(
            "monetization.subscriptions.basePlans.deactivate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}:deactivate"
        ) {
            try $1.set(.inactive, ofBasePlan: $0.text("basePlanId"), of: $0.text("productId"), in: $0.packageName)
        },
        .answering(
            "monetization.subscriptions.basePlans.migratePrices", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}:migratePrices"
        ) {
            try $1.migratePrices(
                $0.json(), ofBasePlan: $0.text("basePlanId"), of: $0.text("productId"), in: $0.packageName)
        },
        .answering(
            "monetization.subscriptions.basePlans.batchMigratePrices", .post,
            "subscriptions/{productId}/basePlans:batchMigratePrices"
        ) {
            try $1.migratePrices($0.json(), of: $0.text("productId"), in: $0.packageName)
        },
        .answering(
            "monetization.subscriptions.basePlans.offers.list", .get,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers"
        ) {
            try $1.apiOffers(ofBasePlan: $0.text("basePlanId"), of: $0.text("productId"), in: $0.packageName)
        },
        .answering(
            "monetization.subscriptions.basePlans.offers.get", .get,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers/{offerId}"
        ) {
            try $1.apiOffer(
                $0.text("offerId"), ofBasePlan: $0.text("basePlanId"), of: $0.text("productId"), in: $0.packageName)
        },
    ]
}
