import Features
import Foundation
import HTTPSupport
import Proofs

/// A user of the ledger.
package struct KnownUserResource: Codable, Listed, Sendable {
    package static let listName = "users"

    package let user: UserName
    /// The account token of the user's purchases.
    package let appAccountToken: String
    /// RFC 3339, UTC.
    let firstSeenAt: String

    init(_ known: KnownUser) {
        user = UserName(known.user)
        appAccountToken = known.appAccountToken.lowercasedString
        firstSeenAt = known.firstSeenAt.rfc3339
    }
}

/// The purchases of a transaction, an original transaction, or an order.
package struct PurchaseLookup: Codable, Sendable {
    /// The redeemed purchases. There are several if several origins use the identifier.
    package let purchases: [KnownPurchaseResource]
    /// The purchases that nobody has redeemed.
    package let unclaimed: [UnclaimedPurchaseResource]
    /// The order that the App Store was asked about; nil if the identifier is a transaction.
    package var orderId: String?
    /// The transactions of the order that the ledger does not have; nil without an order.
    package var unrecorded: [UnrecordedTransactionResource]?
}

/// A redeemed purchase with all statements about it.
package struct KnownPurchaseResource: Codable, Sendable {
    /// The owner. Nil if the user was erased.
    package let owner: UserName?
    package let originalTransactionId: String
    package let origin: Origin
    /// The product of the last transaction.
    package let productId: String
    /// A state of `UserSubscriptionResource`, or `owned`, `familyShared`, `consumed` or `refunded`.
    package let state: String
    /// Dates are RFC 3339, UTC.
    package let since: String
    package let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it.
    package let renews: Bool?
    package let expirationReason: String?
    /// The items that the transactions grant.
    package let items: [Item]
    /// The transactions, newest first.
    package let transactions: [TransactionResource]
    /// The notifications, newest first, at most 200.
    package let notifications: [StatedNotificationResource]

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ purchase: KnownPurchase, naming keys: [String: String]) {
        let status = purchase.status
        owner = purchase.owner.map { UserName($0) }
        originalTransactionId = status.originalTransactionIdentifier
        origin = status.origin
        productId = status.productIdentifier
        state = status.state.rawValue
        since = status.since.rfc3339
        until = status.until?.rfc3339
        renews = status.renews
        expirationReason = status.expirationReason?.rawValue
        items = purchase.items
        transactions = purchase.transactions.map { TransactionResource($0, naming: keys) }
        notifications = purchase.notifications.map { StatedNotificationResource($0) }
    }
}

/// A notification of the App Store about a purchase.
package struct StatedNotificationResource: Codable, Sendable {
    package let notificationUUID: String
    package let origin: Origin
    /// The type in Apple's words.
    package let type: String
    package let subtype: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    /// Dates are RFC 3339, UTC.
    package let signedAt: String
    package let receivedAt: String
    /// `granted`, `revoked`, `recorded` or `parked`.
    package let outcome: String
    /// The decoded notification without the nested proofs.
    package let content: JSONContent?

    init(_ notification: StatedNotification) {
        notificationUUID = notification.notificationUUID
        origin = notification.origin
        type = notification.type
        subtype = notification.subtype
        transactionId = notification.transactionIdentifier
        originalTransactionId = notification.originalTransactionIdentifier
        signedAt = notification.signedAt.rfc3339
        receivedAt = notification.receivedAt.rfc3339
        outcome = notification.outcome.rawValue
        content = notification.content.flatMap(JSONContent.init(json:))
    }
}

/// A purchase that nobody has redeemed.
package struct UnclaimedPurchaseResource: Codable, Listed, Sendable {
    package static let listName = "purchases"

    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    /// The bundle identifier of the app.
    package let bundleId: String
    package let productId: String
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    /// The date of the last statement.
    package let statedAt: String
    package let revocationDate: String?
    /// An account token that no user has.
    package let appAccountToken: String?
    /// The item that the product grants.
    package let item: Item?

    init(_ purchase: UnclaimedPurchase) {
        transactionId = purchase.transactionIdentifier
        originalTransactionId = purchase.originalTransactionIdentifier
        origin = purchase.origin
        bundleId = purchase.app
        productId = purchase.productIdentifier
        purchaseDate = purchase.purchaseDate.rfc3339
        statedAt = purchase.statedAt.rfc3339
        revocationDate = purchase.revocationDate?.rfc3339
        appAccountToken = purchase.appAccountToken?.lowercasedString
        item = purchase.item
    }
}

/// A transaction of an order that the App Store knows, and that nobody has redeemed here.
package struct UnrecordedTransactionResource: Codable, Sendable {
    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    package let bundleId: String
    package let productId: String
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    /// Nil if the App Store has not taken it back.
    package let revocationDate: String?
    package let appAccountToken: String?

    init(_ transaction: JWSTransactionDecodedPayload, from origin: Origin) {
        transactionId = transaction.transactionId
        originalTransactionId = transaction.originalTransactionId
        self.origin = origin
        bundleId = transaction.bundleId
        productId = transaction.productId
        purchaseDate = transaction.purchaseDate.rfc3339
        revocationDate = transaction.revocationDate?.rfc3339
        appAccountToken = transaction.facts.text(.appAccountToken)
    }
}

/// An unclaimed purchase that the team has assigned to a user.
package struct AssignmentResource: Codable, Sendable {
    package let transactionId: String
    package let user: UserName
    /// The result in the words of a redemption: `granted`, `alreadyRedeemed` or `revoked`.
    package let result: String
}

/// The reason for owning or not owning an item.
package struct ExplanationResource: Codable, Sendable {
    package let item: Item
    package let isOwned: Bool
    /// A code, such as `expired`.
    package let cause: String
    /// The reason in one or two sentences.
    package let text: String
    /// The remedy.
    package let remedy: String?
    /// The time at which the cause took effect. Dates are RFC 3339, UTC.
    package let since: String?
    package let until: String?
    /// The transaction or the grant; the original transaction of an expected purchase.
    package let reference: String?
    package let origin: Origin?
    /// The owner of a purchase that the user's redemption was refused for.
    package let otherOwner: UserName?

    init(_ explanation: ItemExplanation) {
        item = explanation.item
        isOwned = explanation.isOwned
        cause = explanation.cause.rawValue
        text = explanation.sentence
        remedy = explanation.remedy
        since = explanation.since?.rfc3339
        until = explanation.until?.rfc3339
        reference = explanation.reference
        origin = explanation.origin
        otherOwner = explanation.otherOwner.map { UserName($0) }
    }
}

/// An entry of a user's story.
package struct StoryEntryResource: Codable, Listed, Sendable {
    package static let listName = "entries"

    /// The time at which the entry took effect (RFC 3339, UTC).
    package let happenedAt: String
    /// `notification`, or an event of the audit log.
    package let kind: String
    /// The entry in a sentence.
    package let text: String
    /// `user`, `App Store`, `till`, or `key` with the identifier of an API key.
    package let actor: String
    /// The name of the API key; nil for another actor, and if the ledger does not have the key.
    package var actorName: String?
    /// The product, the item or the balance.
    package var subject: String?
    /// The transaction, grant, spending or notification.
    package var reference: String?
    package var origin: Origin?
    /// The reason in the team's words, or the code of a refusal.
    package var reason: String?
    /// The cause of a refusal.
    package var cause: String?
    /// The remedy of a refusal.
    package var remedy: String?
    /// The owner of a purchase that the user's redemption was refused for.
    package var otherOwner: UserName?
    package var notification: StatedNotificationResource?
}

extension StoryEntryResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ entry: StoryEntry, naming keys: [String: String]) {
        switch entry.content {
        case .event(let event, _, let otherOwner):
            let remedy = event.event == .refused ? event.reason.flatMap { RefusalRemedy(code: $0) } : nil
            self.init(
                happenedAt: event.happenedAt.rfc3339, kind: event.event.rawValue, text: entry.sentence,
                actor: event.actor.description, actorName: event.actor.keyIdentifier.flatMap { keys[$0] },
                subject: event.subject, reference: event.reference,
                origin: event.origin, reason: event.reason, cause: remedy?.cause, remedy: remedy?.remedy,
                otherOwner: otherOwner.map { UserName($0) })
        case .notification(let notification):
            self.init(
                happenedAt: notification.signedAt.rfc3339, kind: "notification", text: entry.sentence,
                actor: "App Store", reference: notification.transactionIdentifier, origin: notification.origin,
                notification: StatedNotificationResource(notification))
        }
    }
}
