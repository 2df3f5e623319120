import Foundation
import HTTPSupport
import Proofs

/// An account's purchase of the app.
package struct AppTransactionResource: Codable, Sendable {
    /// A JWS.
    package let signedAppTransaction: String
}

/// The app receipt of an account.
struct ReceiptResource: Encodable {
    /// The PKCS#7 container in base64.
    let receipt: String
}

/// A transaction of the payment queue.
package struct QueueResource: Codable, Listed, Sendable {
    package static let listName = "transactions"

    package let number: Int64
    package let account: String
    package let productId: String
    package let quantity: Int
    package let state: String
    /// The name of the SKError. Nil if the payment has not failed.
    package let error: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    /// The proof of a StoreKit 2 app (JWS).
    package let signedTransaction: String?
    /// The effect of the payment: `charged`, `alreadySubscribed` or `changes`. Nil if nothing was sold, and except in the answer to
    /// a purchase.
    package let effect: String?
    /// The charged price in milliunits of the currency. Nil for another effect.
    package let price: Int64?
    package let currency: String?
    /// The product after the next renewal. Nil unless the effect is `changes`.
    package let nextProductId: String?
    /// The date of the next renewal (RFC 3339, UTC). Nil unless the effect is `alreadySubscribed` or `changes`.
    package let renewalDate: String?

    /// - Parameter effect: The effect of the payment; nil to omit it.
    init(_ queued: QueuedTransaction, signedTransaction: String?, effect: PurchaseEffect?) {
        let transaction = queued.transaction
        number = transaction.identifier
        account = queued.account
        productId = transaction.payment.productIdentifier
        quantity = transaction.payment.quantity
        state = transaction.state.rawValue
        error = transaction.error?.name
        transactionId = transaction.purchase?.transactionIdentifier
        originalTransactionId = transaction.purchase?.originalTransactionIdentifier
        self.signedTransaction = signedTransaction
        self.effect = effect?.name
        price = effect?.price?.milliunits
        currency = effect?.price?.currency
        nextProductId = effect?.nextProductIdentifier
        renewalDate = effect?.renewalDate?.rfc3339
    }
}

/// A sale with the field names of signed transactions.
package struct SaleResource: Codable, Listed, Sendable {
    package static let listName = "transactions"

    package let transactionId: String
    package let originalTransactionId: String
    package let orderId: String
    package let account: String
    package let productId: String
    package let type: String
    package let quantity: Int
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    package let expiresDate: String?
    /// The price in milliunits of the currency.
    package let price: Int64
    /// ISO 4217.
    package let currency: String
    package let revocationDate: String?
    package let isUpgraded: Bool

    package init(_ transaction: Transaction) {
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

/// The time of the store's clock.
package struct TimeResource: Codable, Sendable {
    /// RFC 3339, UTC.
    package let now: String
    /// The events that an advance of the clock brought about; nil without an advance.
    package let events: [DueEventResource]?

    package init(now: Timestamp, events: [DueEvent]? = nil) {
        self.now = now.rfc3339
        self.events = events?.map { DueEventResource($0) }
    }
}

/// A change of a subscription that time brought about.
package struct DueEventResource: Codable, Sendable {
    /// `renewed`, `renewalFailed`, `gracePeriodEnded` or `expired`.
    package let kind: String
    /// RFC 3339, UTC.
    package let date: String
    package let account: String
    package let productId: String
    package let transactionId: String

    init(_ event: DueEvent) {
        kind = event.kind.rawValue
        date = event.date.rfc3339
        account = event.account
        productId = event.productIdentifier
        transactionId = event.transactionIdentifier
    }
}

/// A notification of the store.
package struct NotificationResource: Codable, Listed, Sendable {
    package static let listName = "notifications"

    /// An attempt to send a notification.
    package struct Attempt: Codable, Sendable {
        /// RFC 3339, UTC.
        package let date: String
        package let result: String
    }

    package let notificationUUID: String
    package let notificationType: String
    package let subtype: String?
    package let transactionId: String?
    /// RFC 3339, UTC.
    package let date: String
    package let sendAttempts: [Attempt]
    /// A JWS.
    package let signedPayload: String

    package init(_ notification: StoreNotification) {
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

extension StatusResponse.SubscriptionGroupIdentifierItem: Listed {
    package static let listName = "subscriptions"
}
