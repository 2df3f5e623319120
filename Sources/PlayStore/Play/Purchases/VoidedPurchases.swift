import Foundation
import GRDB
import HTTPSupport
import Proofs

/// The query of `purchases.voidedpurchases.list`. The dates are those at which purchases were voided, in milliseconds since 1970.
struct VoidedPurchaseQuery: Codable {
    /// The days that the API looks back.
    private static let maximumDays: Int64 = 30
    private static let maximumResults = 1000

    let startTime: Int64
    let endTime: Int64
    let start: Int
    let limit: Int
    let includesPartial: Bool
    let includesSubscriptions: Bool

    /// Reads the parameters of a request.
    ///
    /// - Parameter latest: The latest time of the customers' clocks, until which purchases are listed.
    /// - Throws: `PublisherError`, `invalidValue`.
    init(_ parameters: PublisherParameters, now: Timestamp, latest: Timestamp) throws(PublisherError) {
        let limit = try parameters.integer("maxResults") ?? Self.maximumResults
        guard limit > 0 else { throw .invalidValue("maxResults", "it has to be positive.") }
        let type = try parameters.integer("type") ?? 0
        guard [0, 1].contains(type) else {
            throw .invalidValue("type", "it has to be 0 or 1.")
        }
        if let token = parameters["token"] {
            guard var query = Self(token: token) else { throw .invalidValue("token", "it is of no page.") }
            // The dates and kinds stay those of the first page.
            query = Self(query, start: query.start, limit: min(limit, Self.maximumResults))
            self = query
            return
        }
        let earliest = now.adding(days: -Self.maximumDays).millisecondsSince1970
        startTime = try parameters.integer("startTime").map(Int64.init) ?? earliest
        endTime = try parameters.integer("endTime").map(Int64.init) ?? latest.millisecondsSince1970
        guard startTime >= earliest else {
            throw .invalidValue("startTime", "it may not be more than 30 days in the past.")
        }
        guard endTime <= latest.millisecondsSince1970, startTime <= endTime else {
            throw .invalidValue("endTime", "it may not be in the future or before startTime.")
        }
        start = try parameters.integer("startIndex") ?? 0
        guard start >= 0 else { throw .invalidValue("startIndex", "it may not be negative.") }
        self.limit = min(limit, Self.maximumResults)
        includesPartial = try parameters.flag("includeQuantityBasedPartialRefund") ?? false
        includesSubscriptions = type == 1
    }

    private init(_ query: Self, start: Int, limit: Int) {
        (startTime, endTime, includesPartial) = (query.startTime, query.endTime, query.includesPartial)
        includesSubscriptions = query.includesSubscriptions
        (self.start, self.limit) = (start, limit)
    }

    private init?(token: String) {
        guard let bytes = Base64.decode(token.utf8, .urlSafe),
            let query = try? JSONDecoder().decode(Self.self, from: Data(bytes)), query.start >= 0, query.limit > 0
        else { return nil }
        self = query
    }

    fileprivate func condition(_ packageName: String) -> SQL {
        var condition: SQL = "package_name = \(packageName) AND voided_at >= \(startTime) AND voided_at <= \(endTime)"
        if !includesPartial { condition += " AND NOT is_partial" }
        if !includesSubscriptions { condition += " AND NOT is_subscription" }
        return condition
    }

    /// The token of the page that begins at an index.
    func token(from start: Int) throws -> String {
        Base64.encode(try JSONEncoder().encode(Self(self, start: start, limit: limit)), .urlSafe)
    }
}

extension PlayBooks {
    /// Lists a purchase as voided, and notifies the developer.
    func void(
        _ voided: VoidedPurchase, of purchase: some KeptPurchase, at time: Timestamp, isSubscription: Bool
    ) throws {
        try database.insert(
            [
                "package_name": purchase.packageName, "voided_at": time, "is_partial": voided.voidedQuantity != nil,
                "is_subscription": isSubscription, "record": try LocalRecord.text(voided),
            ], into: "voided_purchase")
        try notify(purchase.packageName, of: purchase.account, at: time) {
            $0.voidedPurchaseNotification = .init(
                purchaseToken: voided.purchaseToken, orderId: voided.orderId, productType: isSubscription ? 1 : 2,
                refundType: voided.voidedQuantity == nil ? 1 : 2)
        }
    }

    /// `purchases.voidedpurchases.list`.
    func voidedPurchases(of packageName: String, _ query: VoidedPurchaseQuery) throws -> VoidedPurchaseList {
        let condition = query.condition(packageName)
        let found: [VoidedPurchase] = try database.records(
            """
            SELECT record FROM voided_purchase WHERE \(condition)
            ORDER BY voided_at, number LIMIT \(query.limit) OFFSET \(query.start)
            """)
        let total =
            try SQLRequest<Int>("SELECT count(*) FROM voided_purchase WHERE \(condition)").fetchOne(database) ?? 0
        let next = query.start + found.count
        var list = VoidedPurchaseList(voidedPurchases: found.isEmpty ? nil : found)
        list.pageInfo = .init(
            totalResults: Int32(clamping: total), resultPerPage: Int32(clamping: query.limit),
            startIndex: Int32(clamping: query.start))
        list.tokenPagination = .init(
            nextPageToken: next < total ? try query.token(from: next) : nil,
            previousPageToken: query.start > 0 ? try query.token(from: max(0, query.start - query.limit)) : nil)
        return list
    }
}
