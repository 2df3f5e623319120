import Proofs

package struct HistoryResponse: Encodable, Sendable {
    package let revision: String
    package let hasMore: Bool
    package let bundleId: String
    /// Nil in the sandbox, as in each payload.
    package let appAppleId: Int64?
    package let environment: AppStoreEnvironment
    package let signedTransactions: [String]
}

struct RefundHistoryResponse: Encodable, Sendable {
    let signedTransactions: [String]
    let revision: String
    let hasMore: Bool
}

extension Books {
    /// `GET /inApps/v2/history/{anyTransactionId}`, in the order in which the transactions last changed.
    package func transactionHistory(
        _ anyTransactionId: String,
        _ query: TransactionHistoryQuery,
        version: HistoryVersion
    ) throws -> HistoryResponse {
        let account = try apiAccount(ofAny: anyTransactionId)
        let unfinished = try account.map(unfinishedTransactionIdentifiers(of:)) ?? []
        let page = HistoryPage(
            of: try account.map(transactions.changes(of:)) ?? [], after: query.cursor, isDescending: query.isDescending
        ) {
            version.includes($0, unfinished: unfinished) && query.includes($0)
        }
        return HistoryResponse(
            revision: page.cursor.text, hasMore: page.hasMore, bundleId: issuer.bundleIdentifier,
            appAppleId: issuer.appAppleIdentifier, environment: issuer.environment,
            signedTransactions: try page.transactions.map(signed))
    }

    /// `GET /inApps/v2/refund/lookup/{anyTransactionId}`
    func refundHistory(_ anyTransactionId: String, revision: String?) throws -> RefundHistoryResponse {
        let account = try apiAccount(ofAny: anyTransactionId)
        let cursor = revision.flatMap { HistoryCursor($0) }
        guard revision == nil || cursor?.isDescending == false else { throw ServerAPIError.invalidRequestRevision }
        let page = HistoryPage(
            of: try account.map(transactions.changes(of:)) ?? [], after: cursor, isDescending: false,
            including: \.isRefunded)
        return RefundHistoryResponse(
            signedTransactions: try page.transactions.map(signed), revision: page.cursor.text, hasMore: page.hasMore)
    }
}

/// A page of a customer's history, in the order in which the transactions last changed.
package struct HistoryPage: Hashable, Sendable {
    /// The maximum size of a page, as in Apple's API.
    package static let size = 20

    package let transactions: [Transaction]
    package let cursor: HistoryCursor
    package let hasMore: Bool

    /// - Parameters:
    /// - changes: All transactions, each with the number of its last change, in the order of these numbers.
    /// - cursor: The end of the previous page; nil for the first page.
    package init(
        of changes: [(change: Int64, transaction: Transaction)],
        after cursor: HistoryCursor?,
        isDescending: Bool,
        including isIncluded: (Transaction) -> Bool
    ) {
        let rest = (isDescending ? changes.reversed() : changes).filter { change, transaction in
            guard isIncluded(transaction) else { return false }
            return cursor.map { isDescending ? change < $0.change : change > $0.change } ?? true
        }
        let shown = rest.prefix(Self.size)
        transactions = shown.map(\.transaction)
        self.cursor =
            shown.last.map { HistoryCursor(change: $0.change, isDescending: isDescending) }
            ?? cursor ?? HistoryCursor(change: 0, isDescending: isDescending)
        hasMore = rest.count > shown.count
    }
}

/// The last change of a history that a client has read, as letters and digits (`revision`).
package struct HistoryCursor: Hashable, Sendable {
    package let change: Int64
    package let isDescending: Bool

    package var text: String { "\(isDescending ? "D" : "A")\(change)" }
}

extension HistoryCursor {
    package init?(_ text: String) {
        guard let direction = text.first, "AD".contains(direction), text.utf8.count <= 20,
            let change = Int64(text.dropFirst()), change >= 0
        else { return nil }
        self.init(change: change, isDescending: direction == "D")
    }
}

package enum HistoryVersion: Sendable {
    case v1
    case v2

    /// True if the history has a transaction. The first version leaves out finished consumables that are not revoked.
    ///
    /// - Parameter unfinished: The identifiers of the transactions that the app has yet to finish.
    package func includes(_ transaction: Transaction, unfinished: Set<String>) -> Bool {
        switch self {
        case .v1:
            transaction.type != .consumable || transaction.revocation != nil
                || unfinished.contains(transaction.transactionIdentifier)
        case .v2: true
        }
    }
}

/// The filter and order of a transaction history: the query of `GET /inApps/v2/history/{anyTransactionId}`.
package struct TransactionHistoryQuery: Sendable {
    private(set) var cursor: HistoryCursor?
    private(set) var isDescending = false
    /// The conditions, by the names of their parameters. A transaction meets one of each name.
    private var conditions: [String: [@Sendable (Transaction) -> Bool]] = [:]

    private static let productTypesByName: [String: ProductType] = [
        "AUTO_RENEWABLE": .autoRenewableSubscription, "NON_RENEWABLE": .nonRenewingSubscription,
        "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
    ]

    /// - Parameter parameters: The names and values of the query, in any order. Unknown names are ignored.
    /// - Throws: `ServerAPIError` for an invalid value.
    package init(_ parameters: [(name: String, value: String)]) throws(ServerAPIError) {
        var revision: String?
        var (startDate, endDate): (Timestamp?, Timestamp?)
        for (name, value) in parameters {
            switch name {
            case "revision": revision = value
            case "startDate":
                let start = try Self.date(value, .invalidStartDate)
                startDate = start
                conditions[name] = [{ $0.purchaseDate >= start }]
            case "endDate":
                let end = try Self.date(value, .invalidEndDate)
                endDate = end
                conditions[name] = [{ $0.purchaseDate < end }]
            case "productId":
                guard !value.isEmpty else { throw .invalidProductId }
                conditions[name, default: []].append { $0.productIdentifier == value }
            case "productType":
                guard let type = Self.productTypesByName[value] else { throw .invalidProductType }
                conditions[name, default: []].append { $0.type == type }
            case "subscriptionGroupIdentifier":
                guard !value.isEmpty else { throw .invalidSubscriptionGroupIdentifier }
                conditions[name, default: []].append { $0.subscriptionGroupIdentifier == value }
            case "inAppOwnershipType":
                guard let type = InAppOwnershipType(rawValue: value) else { throw .invalidInAppOwnershipType }
                conditions[name] = [{ $0.ownership == type }]
            case "revoked":
                let isRevoked = try Self.flag(value, .invalidRevoked)
                conditions["revoked"] = [{ ($0.revocation != nil) == isRevoked }]
            // A parameter of the endpoint's first version.
            case "excludeRevoked":
                conditions["revoked"] = try Self.flag(value, .invalidExcludeRevoked) ? [{ $0.revocation == nil }] : nil
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
        conditions.values.allSatisfy { $0.contains { $0(transaction) } }
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
