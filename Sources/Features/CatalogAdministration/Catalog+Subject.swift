import Catalog
import Proofs

extension Catalog {
    /// The definition of a subject; nil for none.
    func definition(of subject: CatalogSubject) -> JSONObject? {
        switch subject {
        case .product(let identifier): definition(of: identifier)
        case .right(let name): right(name)?.definition
        case .offering(let identifier): offering(identifier)?.definition
        case .currentOffering: currentOffering.map { Self.definition(ofCurrentOffering: $0.identifier) }
        }
    }

    /// The definition of the current offering, as the ledger stores it.
    static func definition(ofCurrentOffering identifier: String) -> JSONObject {
        ["identifier": .string(identifier)]
    }

    /// The identifier in a stored definition of the current offering.
    static func currentOffering(_ object: JSONObject) throws(CatalogError) -> String {
        guard case .string(let identifier)? = object["identifier"] else {
            throw CatalogError(file: "The current offering", key: "identifier", reason: "the key is missing")
        }
        return identifier
    }
}
