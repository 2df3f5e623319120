/// The part of a catalog that a change is about.
package enum CatalogSubject: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case product
        case right
        case offering
        case currentOffering
    }

    case product(String)
    case right(String)
    case offering(String)
    case currentOffering

    init(_ kind: Kind, _ identifier: String) {
        self =
            switch kind {
            case .product: .product(identifier)
            case .right: .right(identifier)
            case .offering: .offering(identifier)
            case .currentOffering: .currentOffering
            }
    }

    package var kind: Kind {
        switch self {
        case .product: .product
        case .right: .right
        case .offering: .offering
        case .currentOffering: .currentOffering
        }
    }

    /// The identifier of the product or offering, or the name of the right; empty for the current offering.
    package var identifier: String {
        switch self {
        case .product(let identifier), .right(let identifier), .offering(let identifier): identifier
        case .currentOffering: ""
        }
    }
}
