import Foundation
import HTTPSupport
import Proofs

/// A transaction of the payment queue.
package struct QueueResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "transactions"
    package static let schema = Schema(of: Self.self, named: "Queue", "A transaction of the payment queue.").noting([
        "number": "The number in the queue.",
        "account": "The App Store account.",
        "productId": "The product.",
        "quantity": "The number of units.",
        "state": .one(of: PaymentTransactionState.self, "The state."),
        "error": "The name of the SKError of a failed payment.",
        "transactionId": "The transaction.",
        "originalTransactionId": "The first transaction of the purchase.",
        "signedTransaction": "The proof of a StoreKit 2 app (JWS).",
        "effect": .one(
            of: ["charged", "alreadySubscribed", "changes"],
            "The effect of the payment; absent if nothing was sold, and except in the answer to a purchase."),
        "price": "The charged price in milliunits of the currency; absent for another effect.",
        "currency": "The currency of the price (ISO 4217).",
        "nextProductId": "The product after the next renewal, if the effect is `changes`.",
        "renewalDate": .time("The date of the next renewal, if the effect is `alreadySubscribed` or `changes`."),
    ])

    package let number: Int64
    package let account: String
    package let productId: String
    package let quantity: Int
    package let state: String
    /// The name of the SKError. Nil if the payment has not failed.
    package let error: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let signedTransaction: String?
    package let effect: String?
    package let price: Int64?
    package let currency: String?
    package let nextProductId: String?
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
package struct SaleResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "transactions"
    package static let schema = Schema(of: Self.self, named: "Sale", "A sale.").noting([
        "transactionId": "The transaction.",
        "originalTransactionId": "The first transaction of the purchase.",
        "orderId": "The order on Apple's invoice.",
        "account": "The App Store account.",
        "productId": "The product.",
        "type": "The product's type, in Apple's words.",
        "quantity": "The number of units.",
        "purchaseDate": .time("The date of the purchase."),
        "expiresDate": .time("The end of the period of a subscription."),
        "price": "Milliunits of the currency.",
        "currency": "ISO 4217.",
        "revocationDate": .time("The date of the refund."),
        "isUpgraded": "True if the customer upgraded before the period ended.",
    ])

    package let transactionId: String
    package let originalTransactionId: String
    package let orderId: String
    package let account: String
    package let productId: String
    package let type: String
    package let quantity: Int
    package let purchaseDate: String
    package let expiresDate: String?
    package let price: Int64
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
package struct TimeResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "Time", "The time of the store's clock.").noting([
        "now": .time("The time."), "events": "The events that an advance brought about.",
    ])

    package let now: String
    /// The events that an advance of the clock brought about; nil without an advance.
    package let events: [DueEventResource]?

    package init(now: Timestamp, events: [DueEvent]? = nil) {
        self.now = now.rfc3339
        self.events = events?.map { DueEventResource($0) }
    }
}

/// A change of a subscription that time brought about.
package struct DueEventResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "DueEvent", "A change of a subscription that time brought about."
    ).noting([
        "kind": .one(of: DueEvent.Kind.self, "The change."),
        "date": .time("The date."),
        "account": "The App Store account.",
        "productId": "The product.",
        "transactionId": "The latest transaction.",
    ])

    package let kind: String
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
package struct NotificationResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "notifications"
    package static let schema = Schema(of: Self.self, named: "Notification", "A notification.").noting([
        "notificationUUID": .uuid("The notification."),
        "notificationType": "Apple's name of the type.",
        "subtype": "Apple's name of the subtype.",
        "transactionId": "The transaction.",
        "date": .time("The date."),
        "sendAttempts": "The attempts, the first one first.",
        "signedPayload": "The JWS that is sent.",
    ])

    /// An attempt to send a notification.
    package struct Attempt: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, "An attempt to send it.").noting([
            "date": .time("The date."), "result": "The result, such as `SUCCESS`.",
        ])

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

extension ResetResult: SchemaSource {
    package static let schema = Schema(of: ResetResult.self, named: "Reset", "The things that were cleared.").noting([
        "sales": "The number of transactions, renewals included.",
        "notifications": "The number of notifications.",
        "clock": "True if the clock had been advanced.",
        "settings": "True if the settings had been changed.",
    ])
}

extension StatusResponse.SubscriptionGroupIdentifierItem: Listed, SchemaSource {
    package static let listName = "subscriptions"
    package static let schema = Schema(
        of: StatusResponse.SubscriptionGroupIdentifierItem.self, named: "SubscriptionStatus", "The status in one group."
    ).noting(["subscriptionGroupIdentifier": "The group."])
}

extension StatusResponse.LastTransactionsItem: SchemaSource {
    package static let schema = Schema.object("The latest transaction.").fields([
        "status": .integer("Apple's number of the status."),
        "originalTransactionId": .text("The first transaction."),
        "signedTransactionInfo": .text("A JWS."),
        "signedRenewalInfo": .text("A JWS."),
    ])
}

extension Schema {
    static let product = object("A product.", named: "Product").fields([
        "productId": .text("The product."),
        "type": .text("The product's type, in Apple's words."),
        "displayName": .text("The name."),
        "description": .text("The description."),
        "price": .integer("Milliunits of the currency."),
        "currency": .text("ISO 4217."),
        "displayPrice": .text("The price in words."),
        "subscription": SubscriptionResource.schema.described("The terms of a subscription.").optional,
    ])
}
