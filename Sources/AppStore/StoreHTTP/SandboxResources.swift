import Foundation
import HTTPSupport
import Proofs

/// A transaction of the payment queue.
package struct QueueResource: AnswerObject, Codable, Listed, Sendable {
    package static let listName = "transactions"
    package static let answerFields = AnswerFields<Self>("A transaction of the payment queue.", named: "Queue") {
        $0.field("number", "The number in the queue.", \.number)
        $0.field("account", "The App Store account.", \.account)
        $0.field("productId", "The product.", \.productId)
        $0.field("quantity", "The number of units.", \.quantity)
        $0.field("state", .one(of: PaymentTransactionState.self, "The state."), \.state)
        $0.field("error", "The name of the SKError of a failed payment.", \.error)
        $0.field("transactionId", "The transaction.", \.transactionId)
        $0.field("originalTransactionId", "The first transaction of the purchase.", \.originalTransactionId)
        $0.field("signedTransaction", "The proof of a StoreKit 2 app (JWS).", \.signedTransaction)
        $0.field(
            "effect",
            .one(
                of: ["charged", "alreadySubscribed", "changes"],
                "The effect of the payment; absent if nothing was sold, and except in the answer to a purchase."),
            \.effect)
        $0.field("price", "The charged price in milliunits of the currency; absent for another effect.", \.price)
        $0.field("currency", "The currency of the price (ISO 4217).", \.currency)
        $0.field("nextProductId", "The product after the next renewal, if the effect is `changes`.", \.nextProductId)
        $0.field(
            "renewalDate", .time("The date of the next renewal, if the effect is `alreadySubscribed` or `changes`."),
            \.renewalDate)
    }

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
package struct SaleResource: AnswerObject, Codable, Listed, Sendable {
    package static let listName = "transactions"
    package static let answerFields = AnswerFields<Self>("A sale.", named: "Sale") {
        $0.field("transactionId", "The transaction.", \.transactionId)
        $0.field("originalTransactionId", "The first transaction of the purchase.", \.originalTransactionId)
        $0.field("orderId", "The order on Apple's invoice.", \.orderId)
        $0.field("account", "The App Store account.", \.account)
        $0.field("productId", "The product.", \.productId)
        $0.field("type", "The product's type, in Apple's words.", \.type)
        $0.field(
            "inAppOwnershipType", "`PURCHASED`, or `FAMILY_SHARED` by another member of the family.",
            \.inAppOwnershipType)
        $0.field("quantity", "The number of units.", \.quantity)
        $0.field("purchaseDate", .time("The date of the purchase."), \.purchaseDate)
        $0.field("expiresDate", .time("The end of the period of a subscription."), \.expiresDate)
        $0.field("price", "Milliunits of the currency; with seats, the average price of one.", \.price)
        $0.field("currency", "ISO 4217.", \.currency)
        $0.field("revocationDate", .time("The date of the refund."), \.revocationDate)
        $0.field("isUpgraded", "True if the customer upgraded before the period ended.", \.isUpgraded)
    }

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
    package let isUpgraded: Bool

    package init(_ transaction: Transaction) {
        transactionId = transaction.transactionIdentifier
        originalTransactionId = transaction.originalTransactionIdentifier
        orderId = transaction.orderIdentifier
        account = transaction.account
        productId = transaction.productIdentifier
        type = transaction.type.rawValue
        inAppOwnershipType = transaction.ownership.rawValue
        quantity = transaction.quantity
        purchaseDate = transaction.purchaseDate.rfc3339
        expiresDate = transaction.expiresDate?.rfc3339
        price = transaction.price.milliunits
        currency = transaction.price.currency
        revocationDate = transaction.revocation?.date.rfc3339
        isUpgraded = transaction.isUpgraded
    }
}

/// The family of an account.
package struct FamilyResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>("A family.", named: "Family") {
        $0.field("organizer", "The account that began the family; absent for an account in no family.", \.organizer)
        $0.field("members", "The other accounts, in the order in which they joined.", \.members)
    }

    package let organizer: String?
    package let members: [String]

    /// - Parameter family: Nil for an account in no family.
    package init(_ family: Family?) { (organizer, members) = (family?.organizer, family?.members ?? []) }
}

/// The time of the store's clock, or of an account's.
package struct TimeResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>("The time of a clock.", named: "Time") {
        $0.field("now", .time("The time."), \.now)
        $0.field(
            "millisecondsSince1970", "The same time with its milliseconds, as signed data has it.",
            \.millisecondsSince1970)
        $0.field(
            "accounts", "The accounts with their own time; only in the answer to a read of the store's.", \.accounts)
        $0.field("events", "The events that an advance brought about.", \.events)
    }

    package let now: String
    package let millisecondsSince1970: Int64
    /// The accounts with their own time; nil except for a read of the store's.
    package let accounts: [AccountTimeResource]?
    /// The events that an advance of the clock brought about; nil without an advance.
    package let events: [DueEventResource]?

    package init(now: Timestamp, accounts: [AccountTime]? = nil, events: [DueEvent]? = nil) {
        self.now = now.rfc3339
        millisecondsSince1970 = now.millisecondsSince1970
        self.accounts = accounts?.map { AccountTimeResource(account: $0.account, now: $0.now.rfc3339) }
        self.events = events?.map { DueEventResource($0) }
    }
}

/// An account with its own time.
package struct AccountTimeResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>("An account with its own time.", named: "AccountTime") {
        $0.field("account", "The App Store account.", \.account)
        $0.field("now", .time("The time."), \.now)
    }

    package let account: String
    package let now: String
}

/// A change of a subscription that time brought about.
package struct DueEventResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>(
        "A change of a subscription that time brought about.", named: "DueEvent"
    ) {
        $0.field("kind", .one(of: DueEvent.Kind.self, "The change."), \.kind)
        $0.field("date", .time("The date."), \.date)
        $0.field("account", "The App Store account.", \.account)
        $0.field("productId", "The product.", \.productId)
        $0.field("transactionId", "The latest transaction.", \.transactionId)
    }

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
package struct NotificationResource: AnswerObject, Codable, Listed, Sendable {
    package static let listName = "notifications"
    package static let answerFields = AnswerFields<Self>("A notification.", named: "Notification") {
        $0.field("notificationUUID", .uuid("The notification."), \.notificationUUID)
        $0.field("notificationType", "Apple's name of the type.", \.notificationType)
        $0.field("subtype", "Apple's name of the subtype.", \.subtype)
        $0.field("transactionId", "The transaction.", \.transactionId)
        $0.field("date", .time("The date."), \.date)
        $0.field("sendAttempts", "The attempts, the first one first.", \.sendAttempts)
        $0.field("signedPayload", "The JWS that is sent.", \.signedPayload)
    }

    /// An attempt to send a notification.
    package struct Attempt: AnswerObject, Codable, Sendable {
        package static let answerFields = AnswerFields<Self>("An attempt to send it.") {
            $0.field("date", .time("The date."), \.date)
            $0.field("result", "The result, such as `SUCCESS`.", \.result)
        }

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

extension ResetResult: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The things that were cleared.", named: "Reset") {
        $0.field("sales", "The number of transactions, renewals included.", \.sales)
        $0.field("notifications", "The number of notifications.", \.notifications)
        $0.field("clock", "True if the clock, or that of an account, had been advanced.", \.clock)
        $0.field("settings", "True if the settings had been changed.", \.settings)
    }
}

extension StatusResponse.SubscriptionGroupIdentifierItem: AnswerObject, Listed {
    package static let listName = "subscriptions"
    package static let answerFields = AnswerFields<Self>("The status in one group.", named: "SubscriptionStatus") {
        $0.field("subscriptionGroupIdentifier", "The group.", \.subscriptionGroupIdentifier)
        $0.field("lastTransactions", \.lastTransactions)
    }
}

extension StatusResponse.LastTransactionsItem: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The latest transaction.") {
        $0.field("status", "Apple's number of the status.", \.status.rawValue)
        $0.field("originalTransactionId", "The first transaction.", \.originalTransactionId)
        $0.field("signedTransactionInfo", "A JWS.", \.signedTransactionInfo)
        $0.field("signedRenewalInfo", "A JWS.", \.signedRenewalInfo)
    }
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
