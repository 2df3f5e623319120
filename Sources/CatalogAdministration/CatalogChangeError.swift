import Catalog
import Commerce
import Ledger

/// Why nothing became of a change to the catalog.
public enum CatalogChangeError: CodedError, Equatable {
    case productInvalid(CatalogError)
    case productTypeFixed(ProductType)
    case productBenefitFixed
    case productNotFound
    case productsTooMany
    case pictureInvalid(CatalogError)
    case pictureOfNoItem
    case picturesTooLarge

    public var code: String {
        switch self {
        case .productInvalid: "productInvalid"
        case .productTypeFixed: "productTypeFixed"
        case .productBenefitFixed: "productBenefitFixed"
        case .productNotFound: "productNotFound"
        case .productsTooMany: "productsTooMany"
        case .pictureInvalid: "pictureInvalid"
        case .pictureOfNoItem: "pictureOfNoItem"
        case .picturesTooLarge: "picturesTooLarge"
        }
    }

    public var message: String {
        switch self {
        case .productInvalid(let error), .pictureInvalid(let error): error.message
        case .productTypeFixed(let type):
            "The product is a \(type.rawValue), as the App Store has it, and stays one: define another product."
        case .productBenefitFixed:
            "Somebody has paid for what the product grants, so it stays that: define another product."
        case .productNotFound: "The catalog has no product of this identifier."
        case .productsTooMany:
            "As many as \(CatalogService.maximumProducts) products are administered already: put others into the files."
        case .pictureOfNoItem: "The product adds to a balance: only items have pictures."
        case .picturesTooLarge:
            "All pictures together would have more than \(CatalogService.maximumPictures >> 20) MB: upload smaller ones."
        }
    }
}
