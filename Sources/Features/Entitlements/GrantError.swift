import Proofs

/// The error of a grant or a revocation. Nothing was changed.
package enum GrantError: CodedError, Equatable {
    case itemUnknown(Item)
    /// The end of the grant is in the past.
    case endPassed
    case grantNotFound
    case transactionNotFound
    /// Two origins use the same identifier.
    case transactionAmbiguous

    package var code: String {
        switch self {
        case .itemUnknown: "itemUnknown"
        case .endPassed: "endPassed"
        case .grantNotFound: "grantNotFound"
        case .transactionNotFound: "transactionNotFound"
        case .transactionAmbiguous: "transactionAmbiguous"
        }
    }

    package var message: String {
        switch self {
        case .itemUnknown(let item): "No product of the catalog grants \(item)."
        case .endPassed: "The end of the grant is in the past. Give a future date, or none."
        case .grantNotFound: "The user has no grant of this identifier."
        case .transactionNotFound: "The user has redeemed no transaction of this identifier."
        case .transactionAmbiguous:
            "The user has transactions of this identifier from two origins. Name one in the query parameter origin."
        }
    }
}
