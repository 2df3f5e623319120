import HTTPSupport

// The answers of the local App Store's sandbox, as a client reads them. A missing field fails the test that reads the answer.

/// A transaction of the payment queue.
package struct QueueResource: Decodable, Listed, Sendable {
    package static let listName = "transactions"

    package let number: Int64
    package let account: String
    package let productId: String
    package let quantity: Int
    package let state: String
    package let error: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let signedTransaction: String?
    package let effect: String?
    package let price: Int64?
    package let currency: String?
    package let nextProductId: String?
    package let renewalDate: String?
}

package struct SaleResource: Decodable, Listed, Sendable {
    package static let listName = "transactions"

    package let transactionId: String
    package let originalTransactionId: String
    package let orderId: String
    package let account: String
    package let productId: String
    package let type: String
    package let inAppOwnershipType: String
    package let quantity: Int
    package let purchaseDate: String
    package let expiresDate: String?
    package let price: Int64
    package let currency: String
    package let revocationDate: String?
    package let revocationPercentage: Int?
    package let isUpgraded: Bool
}

/// The time of the store's clock, or of an account's.
package struct TimeResource: Decodable, Sendable {
    package struct AccountTime: Decodable, Sendable {
        package let account: String
        package let now: String
    }

    package struct DueEvent: Decodable, Sendable {
        package let kind: String
        package let date: String
        package let account: String
        package let productId: String
        package let transactionId: String
    }

    package let now: String
    package let millisecondsSince1970: Int64
    package let accounts: [AccountTime]?
    package let events: [DueEvent]?
}

package struct NotificationResource: Decodable, Listed, Sendable {
    package static let listName = "notifications"

    package struct Attempt: Decodable, Sendable {
        package let date: String
        package let result: String
    }

    package let notificationUUID: String
    package let notificationType: String
    package let subtype: String?
    package let transactionId: String?
    package let date: String
    package let sendAttempts: [Attempt]
    package let signedPayload: String
}
