import Proofs

/// The answer of `GET /v1/product_entitlement_mapping`, from which an app computes entitlements without the service.
package struct ProductEntitlementMapping: Hashable, Sendable {
    /// The identifiers of the rights of each product, in their order.
    package let rights: [ByteKey: [String]]

    package init(_ rights: [CustomerRight]) {
        var byProduct: [ByteKey: [String]] = [:]
        for right in rights {
            for product in Set(right.productIdentifiers.map { ByteKey($0) }) {
                byProduct[product, default: []].append(right.identifier)
            }
        }
        self.rights = byProduct
    }

    package var json: JSONValue {
        var products = JSONObject()
        for (product, rights) in rights.sorted(by: { $0.key < $1.key }) {
            _ = products.add(
                product.text,
                .object([
                    "entitlements": .array(rights.map { .string($0) }), "product_identifier": .string(product.text),
                ]))
        }
        return .object(["product_entitlement_mapping": .object(products)])
    }
}
