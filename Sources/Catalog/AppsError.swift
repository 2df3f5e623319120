import Proofs

/// An invalid list of apps.
package enum AppsError: CodedError, Equatable {
    case empty
    case bundleIdentifierRepeated(String)
    case productTypesDiffer(_ productIdentifier: String, app: String, other: String)

    package var code: String { "appsInvalid" }

    package var message: String {
        switch self {
        case .empty: "The list of apps is empty; add one, or leave the list out."
        case .bundleIdentifierRepeated(let bundleIdentifier):
            "Two apps have the bundle identifier \"\(bundleIdentifier)\"; remove one, or correct `bundleId` in its "
                + "\(Catalog.itemsFile)."
        case .productTypesDiffer(let product, let app, let other):
            "The apps \"\(app)\" and \"\(other)\" sell the product \"\(product)\" as different types; give it one type, or two "
                + "identifiers."
        }
    }
}
