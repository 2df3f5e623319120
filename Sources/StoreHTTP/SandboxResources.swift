import Commerce
import Foundation
import HTTPSupport
import Receipts
import Store

/// A transaction of the payment queue.
struct QueueResource: Encodable, Sendable {
    let number: Int64
    let account: String
    let productId: String
    let quantity: Int
    let state: String
    let error: String?
    let transactionId: String?
    let originalTransactionId: String?
    /// What a StoreKit 2 app would hand in.
    let signedTransaction: String?

    init(_ transaction: PaymentTransaction, account: String, signedTransaction: String?) {
        number = transaction.identifier
        self.account = account
        productId = transaction.payment.productIdentifier
        quantity = transaction.payment.quantity
        state = transaction.state.rawValue
        error = transaction.error?.name
        transactionId = transaction.purchase?.transactionIdentifier
        originalTransactionId = transaction.purchase?.originalTransactionIdentifier
        self.signedTransaction = signedTransaction
    }
}

struct QueueList: Encodable, Sendable {
    let transactions: [QueueResource]
}

/// A sale, in the words of signed transactions.
public struct SaleResource: Encodable, Sendable {
    let transactionId: String
    let originalTransactionId: String
    let orderId: String
    let account: String
    let productId: String
    let type: String
    let quantity: Int
    /// RFC 3339, like the other dates.
    let purchaseDate: String
    let expiresDate: String?
    let price: Int64
    let currency: String
    let revocationDate: String?
    let isUpgraded: Bool

    public init(_ transaction: Transaction) {
        transactionId = transaction.transactionIdentifier
        originalTransactionId = transaction.originalTransactionIdentifier
        orderId = transaction.orderIdentifier
        account = transaction.account
        productId = transaction.productIdentifier
        type = transaction.type.rawValue
        quantity = transaction.quantity
        purchaseDate = transaction.purchaseDate.rfc3339
        expiresDate = transaction.expiresDate?.rfc3339
        price = transaction.price.milliunits
        currency = transaction.price.currency
        revocationDate = transaction.revocation?.date.rfc3339
        isUpgraded = transaction.isUpgraded
    }
}

struct SaleList: Encodable, Sendable {
    let transactions: [SaleResource]
}

struct TimeResource: Encodable, Sendable {
    let now: String

    init(now: Timestamp) {
        self.now = now.rfc3339
    }
}

struct NotificationResource: Encodable, Sendable {
    struct Attempt: Encodable, Sendable {
        let date: String
        let result: String
    }

    let notificationUUID: String
    let notificationType: String
    let subtype: String?
    let transactionId: String?
    let date: String
    let sendAttempts: [Attempt]
    let signedPayload: String

    init(_ notification: StoreNotification) {
        notificationUUID = notification.notificationUUID.uuidString.lowercased()
        notificationType = notification.type.rawValue
        subtype = notification.subtype?.rawValue
        transactionId = notification.transactionIdentifier
        date = notification.date.rfc3339
        sendAttempts = notification.sendAttempts.map {
            Attempt(date: $0.date.rfc3339, result: $0.result.rawValue)
        }
        signedPayload = notification.signedPayload
    }
}

struct NotificationList: Encodable, Sendable {
    let notifications: [NotificationResource]
}
