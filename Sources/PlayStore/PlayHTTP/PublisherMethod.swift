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
    static let all = purchases + orders + products

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

    private static let orders: [PublisherMethod] = [
        .answering("orders.get", .get, "orders/{orderId}") {
            try $1.apiOrder($0.text("orderId"), in: $0.packageName).order
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
}
