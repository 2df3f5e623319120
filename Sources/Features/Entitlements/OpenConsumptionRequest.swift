import Foundation
import Ledger
import Proofs

/// A question of the App Store about a purchase for which the customer has requested a refund (`CONSUMPTION_REQUEST`).
package struct OpenConsumptionRequest: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The UUID of the notification with the question.
    package let notificationUUID: String
    package let transactionIdentifier: String
    /// True if a user has redeemed the purchase.
    package let isRedeemed: Bool
    /// True for an auto-renewable subscription, whose status Apple states with the question.
    package let isSubscription: Bool
    /// The customer's reason, in Apple's words; nil if it is not stated.
    package let reason: String?
    /// The date of the question.
    package let signedAt: Timestamp

    package init(
        app: String,
        origin: Origin,
        notificationUUID: String,
        transactionIdentifier: String,
        isRedeemed: Bool,
        isSubscription: Bool,
        reason: String?,
        signedAt: Timestamp
    ) {
        self.app = app
        self.origin = origin
        self.notificationUUID = notificationUUID
        self.transactionIdentifier = transactionIdentifier
        self.isRedeemed = isRedeemed
        self.isSubscription = isSubscription
        self.reason = reason
        self.signedAt = signedAt
    }
}

/// The customers whose purchases are reconciled with the App Store, and its consumption requests.
extension LedgerTransaction {
    /// Users with redeemed transactions, once for each of their origins, in a stable order.
    ///
    /// - Parameters:
    ///   - number: The number of the last user of the previous page; 0 for the first page.
    ///   - origins: The origins of the purchases.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - limit: The maximum number of users.
    package func customers(
        after number: Int64,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [Customer] {
        guard let app = try self.number(ofApp: app) else { return [] }
        // The query uses the user's index, not the origin's, because nearly all rows have the same origin.
        let isOfOrigins =
            "coalesce(bought.origin, '') IN \(origins.sqlList) \(database.isIn(app.number, of: "bought"))"
        return try database.rows(
            """
            SELECT user_id, issuer, name, transaction_id FROM (
                SELECT customer.user_id, issuer, name, transaction_id, row_number() OVER (
                    PARTITION BY customer.user_id, origin ORDER BY sequence DESC) AS age
                FROM (SELECT user_id, issuer, name FROM "user" WHERE user_id > $1 AND (
                        -- No EXISTS, for which PostgreSQL may read all transactions.
                        SELECT sequence FROM redeemed_transaction AS bought
                        WHERE bought.user_id = "user".user_id AND \(isOfOrigins) LIMIT 1) IS NOT NULL
                    ORDER BY user_id LIMIT $2) AS customer
                JOIN redeemed_transaction AS bought ON bought.user_id = customer.user_id AND \(isOfOrigins)) AS bought
            WHERE age = 1 ORDER BY user_id
            """,
            [number, limit], Customer.init
        ).compactMap(\.self)
    }

    /// The open consumption requests of the App Store about refunds (`CONSUMPTION_REQUEST`), oldest first. The App Store waits for
    /// twelve hours (App Store Server Notifications, "CONSUMPTION_REQUEST").
    ///
    /// - Parameters:
    ///   - origins: The origins of the requests.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    package func openConsumptionRequests(
        at moment: Timestamp,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [OpenConsumptionRequest] {
        guard let app = try number(ofApp: app) else { return [] }
        let apps = try apps
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, notification_uuid, content, signed_at
            FROM notification \(database.indexed(by: "notification_that_asks"))
            WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL AND transaction_id IS NOT NULL
                AND signed_at >= $1 AND origin IN \(origins.sqlList)
                \(database.isIn(app.number))
            ORDER BY signed_at, notification_uuid LIMIT $2
            """,
            [moment.adding(seconds: -ReceivedNotification.answerTime), limit]
        ) { try Self.question(&$0, apps) }
        return try redeemed(rows, apps)
    }

    /// The latest consumption requests, answered or not, newest first.
    ///
    /// - Parameter app: The bundle identifier of an app.
    package func latestConsumptionRequests(in app: String, limit: Int) throws -> [OpenConsumptionRequest] {
        let apps = try apps
        guard let number = apps[app] else { return [] }
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, notification_uuid, content, signed_at
            FROM notification \(database.indexed(by: "notification_of_type"))
            WHERE type = 'CONSUMPTION_REQUEST' AND transaction_id IS NOT NULL AND app = $1
            ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT $2
            """,
            [number, limit]
        ) { try Self.question(&$0, apps) }
        return try redeemed(rows, apps)
    }

    /// A question and the key of its transaction.
    private typealias Question = (
        key: TransactionKey, uuid: String, content: NotifiedPurchase?, signedAt: Timestamp
    )

    /// The question in the next columns of a row: the key, the notification, its content and its date.
    private static func question(_ row: inout ResultRow, _ apps: AppNumbers) throws -> Question {
        let (key, uuid): (TransactionKey, String) = (try apps.key(&row), try row.next())
        let content: String? = try row.next()
        return (key, uuid, content.flatMap(NotifiedPurchase.init(content:)), try row.next())
    }

    private func redeemed(_ questions: [Question], _ apps: AppNumbers) throws -> [OpenConsumptionRequest] {
        guard !questions.isEmpty else { return [] }
        let redeemed = Set(
            try database.rows(
                "SELECT transaction_id, origin, app FROM claim WHERE transaction_id \(database.isIn("$1"))",
                [database.list(questions.map(\.key))]
            ) { try apps.key(&$0) })
        return questions.map { key, uuid, content, signedAt in
            OpenConsumptionRequest(
                app: key.app, origin: key.origin, notificationUUID: uuid, transactionIdentifier: key.identifier,
                isRedeemed: redeemed.contains(key), isSubscription: content?.status != nil,
                reason: content?.consumptionRequestReason, signedAt: signedAt)
        }
    }

    /// Settles a consumption request. One that is settled already stays unchanged.
    package func settle(_ request: OpenConsumptionRequest, at moment: Timestamp) throws {
        _ = try database.execute(
            """
            UPDATE notification SET settled_at = $1
            WHERE origin = $2 AND notification_uuid = $3 AND settled_at IS NULL
            """,
            [moment, request.origin, request.notificationUUID])
    }
}

/// The part of a notification's content that a question has.
private struct NotifiedPurchase: Decodable {
    /// The status of a subscription; nil for another purchase.
    let status: Int?
    let consumptionRequestReason: String?

    /// - Parameter content: The content of a notification as JSON.
    init?(content: String) {
        struct Content: Decodable {
            let data: NotifiedPurchase
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(content.utf8)) else { return nil }
        self = content.data
    }
}
