import Catalog
import Ledger
import Proofs

/// The error of a change to the catalog.
package enum CatalogChangeError: CodedError, Equatable {
    case productInvalid(CatalogError)
    case productTypeFixed(ProductType)
    case productBenefitFixed
    case productNotFound
    case productsTooMany
    case pictureInvalid(CatalogError)
    case pictureOfNoItem
    case picturesTooLarge
    case rightInvalid(CatalogError)
    case rightNotFound
    case rightsTooMany
    case offeringInvalid(CatalogError)
    case offeringNotFound
    case offeringsTooMany

    package var code: String {
        switch self {
        case .productInvalid: "productInvalid"
        case .productTypeFixed: "productTypeFixed"
        case .productBenefitFixed: "productBenefitFixed"
        case .productNotFound: "productNotFound"
        case .productsTooMany: "productsTooMany"
        case .pictureInvalid: "pictureInvalid"
        case .pictureOfNoItem: "pictureOfNoItem"
        case .picturesTooLarge: "picturesTooLarge"
        case .rightInvalid: "rightInvalid"
        case .rightNotFound: "rightNotFound"
        case .rightsTooMany: "rightsTooMany"
        case .offeringInvalid: "offeringInvalid"
        case .offeringNotFound: "offeringNotFound"
        case .offeringsTooMany: "offeringsTooMany"
        }
    }

    package var message: String {
        switch self {
        case .productInvalid(let error), .pictureInvalid(let error), .rightInvalid(let error),
            .offeringInvalid(let error):
            error.message
        case .productTypeFixed(let type):
            "The type of the product is \"\(type.rawValue)\" and cannot be changed. Define another product."
        case .productBenefitFixed:
            "A user has redeemed the product, so its item, balance or duration cannot be changed. Define another product."
        case .productNotFound: "The catalog has no product with this identifier."
        case .productsTooMany:
            "\(CatalogService.maximumProducts) products are already defined over the API. Add others to the files."
        case .pictureOfNoItem: "The product adds to a balance. Only products that grant an item have pictures."
        case .picturesTooLarge:
            "The pictures would exceed \(CatalogService.maximumPictures >> 20) MB in total. Upload a smaller picture."
        case .rightNotFound: "The catalog has no right with this name."
        case .rightsTooMany: "The catalog has \(Catalog.maximumRights) rights already. Remove one first."
        case .offeringNotFound: "The catalog has no offering with this identifier."
        case .offeringsTooMany: "The catalog has \(Catalog.maximumOfferings) offerings already. Remove one first."
        }
    }
}
