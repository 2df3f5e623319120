import Catalog
import Features
import Proofs

extension CatalogResource {
    /// The JSON of a `CatalogRightResource`, a `CatalogOfferingResource` or a `CurrentOfferingResource`.
    ///
    /// - Returns: Nil for a product, and for a right or offering that the catalog does not have.
    static func json(of subject: CatalogSubject, in catalog: Catalog) -> JSONValue? {
        switch subject {
        case .product: nil
        case .right(let name):
            catalog.right(name).map { right in
                .object([
                    "name": .string(right.name), "isAdministered": .bool(catalog.isAdministered(right: name)),
                    "definition": .object(right.definition),
                ])
            }
        case .offering(let identifier):
            catalog.offering(identifier).map { offering in
                .object([
                    "identifier": .string(offering.identifier),
                    "isCurrent": .bool(catalog.isCurrent(offering)),
                    "isAdministered": .bool(catalog.isAdministered(offering: identifier)),
                    "definition": .object(offering.definition),
                ])
            }
        case .currentOffering: currentOffering(in: catalog)
        }
    }

    private static func currentOffering(in catalog: Catalog) -> JSONValue {
        var object: JSONObject = ["isAdministered": .bool(catalog.isCurrentOfferingAdministered)]
        if let current = catalog.currentOffering { _ = object.add("identifier", .string(current.identifier)) }
        return .object(object)
    }
}
