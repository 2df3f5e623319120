import Foundation
import HTTPSupport
import Proofs

/// A transaction of the payment queue, with its proof and its effect.
struct QueueAnswer: AnswerObject, Listed {
    static let listName = "transactions"
    static let answerFields = AnswerFields<Self>("A transaction of the payment queue.", named: "Queue") {
        $0.field("number", "The number in the queue.", \.transaction.identifier)
        $0.field("account", "The App Store account.", \.queued.account)
        $0.field("productId", "The product.", \.transaction.payment.productIdentifier)
        $0.field("quantity", "The number of units.", \.transaction.payment.quantity)
        $0.field("state", .one(of: PaymentTransactionState.self, "The state."), \.transaction.state.rawValue)
        $0.field("error", "The name of the SKError of a failed payment.", \.transaction.error?.name)
        $0.field("transactionId", "The transaction.", \.transaction.purchase?.transactionIdentifier)
        $0.field(
            "originalTransactionId", "The first transaction of the purchase.",
            \.transaction.purchase?.originalTransactionIdentifier)
        $0.field("signedTransaction", "The proof of a StoreKit 2 app (JWS).", \.signedTransaction)
        $0.field(
            "effect",
            .one(
                of: ["charged", "alreadySubscribed", "changes"],
                "The effect of the payment; absent if nothing was sold, and except in the answer to a purchase."),
            \.effect?.name)
        $0.field(
            "price", "The charged price in milliunits of the currency; absent for another effect.",
            \.effect?.price?.milliunits)
        $0.field("currency", "The currency of the price (ISO 4217).", \.effect?.price?.currency)
        $0.field(
            "nextProductId", "The product after the next renewal, if the effect is `changes`.",
            \.effect?.nextProductIdentifier)
        $0.field(
            "renewalDate", .time("The date of the next renewal, if the effect is `alreadySubscribed` or `changes`."),
            \.effect?.renewalDate?.rfc3339)
    }

    let queued: QueuedTransaction
    /// Nil if the payment is not purchased.
    let signedTransaction: String?
    /// The effect of the payment; nil to omit it.
    let effect: PurchaseEffect?

    private var transaction: PaymentTransaction { queued.transaction }
}

/// A sale with the field names of signed transactions.
extension Transaction: AnswerObject, Listed {
    package static let listName = "transactions"
    package static let answerFields = AnswerFields<Self>("A sale.", named: "Sale") {
        $0.field("transactionId", "The transaction.", \.transactionIdentifier)
        $0.field("originalTransactionId", "The first transaction of the purchase.", \.originalTransactionIdentifier)
        $0.field("orderId", "The order on Apple's invoice.", \.orderIdentifier)
        $0.field("account", "The App Store account.", \.account)
        $0.field("productId", "The product.", \.productIdentifier)
        $0.field("type", "The product's type, in Apple's words.", \.type.rawValue)
        $0.field(
            "inAppOwnershipType", "`PURCHASED`, or `FAMILY_SHARED` by another member of the family.",
            \.ownership.rawValue)
        $0.field("quantity", "The number of units.", \.quantity)
        $0.field("purchaseDate", .time("The date of the purchase."), \.purchaseDate.rfc3339)
        $0.field("expiresDate", .time("The end of the period of a subscription."), \.expiresDate?.rfc3339)
        $0.field("price", "Milliunits of the currency; with seats, the average price of one.", \.price.milliunits)
        $0.field("currency", "ISO 4217.", \.price.currency)
        $0.field("revocationDate", .time("The date of the refund."), \.revocation?.date.rfc3339)
        $0.field(
            "revocationPercentage", "The refunded part, in thousandths of a percent.", \.revocation?.percentage)
        $0.field("isUpgraded", "True if the customer upgraded before the period ended.", \.isUpgraded)
    }
}

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

extension StoreNotification: AnswerObject, Listed {
    package static let listName = "notifications"
    package static let answerFields = AnswerFields<Self>("A notification.", named: "Notification") {
        $0.field("notificationUUID", .uuid("The notification."), \.notificationUUID.lowercasedString)
        $0.field("notificationType", "Apple's name of the type.", \.type.rawValue)
        $0.field("subtype", "Apple's name of the subtype.", \.subtype?.rawValue)
        $0.field("transactionId", "The transaction.", \.transactionIdentifier)
        $0.field("date", .time("The date."), \.date.rfc3339)
        $0.field("sendAttempts", "The attempts, the first one first.", \.sendAttempts)
        $0.field("signedPayload", "The JWS that is sent.", \.signedPayload)
    }
}

extension StoreNotification.SendAttempt: AnswerObject {
    package static let answerFields = AnswerFields<Self>("An attempt to send it.") {
        $0.field("date", .time("The date."), \.date.rfc3339)
        $0.field("result", "The result, such as `SUCCESS`.", \.result.rawValue)
    }
}

extension ExternalPurchaseToken: AnswerObject, Listed {
    package static let listName = "externalPurchaseTokens"
    package static let answerFields = AnswerFields<Self>(
        "The token of a purchase outside the App Store.", named: "ExternalPurchaseToken"
    ) {
        $0.field("externalPurchaseId", "The identifier of the token.", \.externalPurchaseId)
        $0.field(
            "tokenType", "`ACQUISITION`, `SERVICES`, `IN_APP` or `LINK_OUT`; absent for another token.",
            \.kind?.rawValue)
        $0.field("tokenCreationDate", .time("The date of its creation."), \.creationDate.rfc3339)
        $0.field(
            "tokenExpirationDate", .time("The end of its active period; absent without a type."),
            \.expirationDate?.rfc3339)
        $0.field("status", "The status that was reported last, such as `LINE_ITEM`; absent before.", \.status)
        $0.field("token", "The token as the app gets it: JSON in Base64URL.", \.text)
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
