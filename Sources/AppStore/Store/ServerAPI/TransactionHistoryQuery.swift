import Foundation
import Proofs

/// The filter and order of a transaction history: the query of `GET /inApps/v2/history/{anyTransactionId}`.
package struct TransactionHistoryQuery: Sendable {
    var cursor: HistoryCursor?
    private var startDate: Timestamp?
    private var endDate: Timestamp?
    private var productIdentifiers: Set<String> = []
    private var productTypes: Set<ProductType> = []
    private var groupIdentifiers: Set<String> = []
    private var ownership: InAppOwnershipType?
    private var isRevoked: Bool?
    private(set) var isDescending = false

    private static let productTypesByName: [String: ProductType] = [
        "AUTO_RENEWABLE": .autoRenewableSubscription, "NON_RENEWABLE": .nonRenewingSubscription,
        "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
    ]

    /// - Parameter parameters: The names and values of the query, in any order. Unknown names are ignored.
    /// - Throws: `ServerAPIError` for an invalid value.
    package init(_ parameters: [(name: String, value: String)]) throws(ServerAPIError) {
        var revision: String?
        for (name, value) in parameters {
            switch name {
            case "revision": revision = value
            case "startDate": startDate = try Self.date(value, .invalidStartDate)
            case "endDate": endDate = try Self.date(value, .invalidEndDate)
            case "productId":
                guard !value.isEmpty else { throw .invalidProductId }
                productIdentifiers.insert(value)
            case "productType":
                guard let type = Self.productTypesByName[value] else { throw .invalidProductType }
                productTypes.insert(type)
            case "subscriptionGroupIdentifier":
                guard !value.isEmpty else { throw .invalidSubscriptionGroupIdentifier }
                groupIdentifiers.insert(value)
            case "inAppOwnershipType":
                guard let type = InAppOwnershipType(rawValue: value) else { throw .invalidInAppOwnershipType }
                ownership = type
            case "revoked": isRevoked = try Self.flag(value, .invalidRevoked)
            // A parameter of the endpoint's first version.
            case "excludeRevoked": isRevoked = try Self.flag(value, .invalidExcludeRevoked) ? false : nil
            case "sort":
                guard ["ASCENDING", "DESCENDING"].contains(value) else { throw .invalidSort }
                isDescending = value == "DESCENDING"
            default: break
            }
        }
        if let startDate, let endDate, startDate >= endDate { throw .startDateAfterEndDate }
        if let revision {
            guard let cursor = HistoryCursor(revision), cursor.isDescending == isDescending else {
                throw .invalidRequestRevision
            }
            self.cursor = cursor
        }
    }

    func includes(_ transaction: Transaction) -> Bool {
        if let startDate, transaction.purchaseDate < startDate { return false }
        if let endDate, transaction.purchaseDate >= endDate { return false }
        if !productIdentifiers.isEmpty, !productIdentifiers.contains(transaction.productIdentifier) { return false }
        if !productTypes.isEmpty, !productTypes.contains(transaction.type) { return false }
        if !groupIdentifiers.isEmpty,
            !(transaction.subscriptionGroupIdentifier.map(groupIdentifiers.contains) ?? false)
        {
            return false
        }
        if let ownership, transaction.ownership != ownership { return false }
        if let isRevoked, (transaction.revocation != nil) != isRevoked { return false }
        return true
    }

    private static func date(_ text: String, _ error: ServerAPIError) throws(ServerAPIError) -> Timestamp {
        guard let milliseconds = Int64(text), milliseconds >= 0 else { throw error }
        return Timestamp(millisecondsSince1970: milliseconds)
    }

    /// Python's client writes `True` and `False`.
    private static func flag(_ text: String, _ error: ServerAPIError) throws(ServerAPIError) -> Bool {
        switch text.lowercased() {
        case "true": true
        case "false": false
        default: throw error
        }
    }
}
