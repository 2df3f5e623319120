import Features
import Foundation
import HTTPSupport
import Proofs

/// A user of the ledger.
package struct KnownUserResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "users"
    package static let schema = Schema(of: Self.self, named: "KnownUser", "A user in the ledger.").noting([
        "appAccountToken": "The account token that the user's purchases may contain.",
        "firstSeenAt": .time(),
    ])

    package let user: UserName
    package let appAccountToken: String
    let firstSeenAt: String

    init(_ known: KnownUser) {
        user = UserName(known.user)
        appAccountToken = known.appAccountToken.lowercasedString
        firstSeenAt = known.firstSeenAt.rfc3339
    }
}

/// The purchases of a transaction, an original transaction, or an order.
package struct PurchaseLookup: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "PurchaseLookup", "The purchases of a transaction or an order."
    ).noting([
        "orderId": "The order that the App Store was asked about; absent if the identifier is a transaction.",
        "unrecorded":
            "The transactions of the order that the App Store knows and nobody has redeemed here; absent without an order.",
    ])

    /// The redeemed purchases. There are several if several origins use the identifier.
    package let purchases: [KnownPurchaseResource]
    /// The purchases that nobody has redeemed.
    package let unclaimed: [UnclaimedPurchaseResource]
    package var orderId: String?
    package var unrecorded: [UnrecordedTransactionResource]?
}

/// A redeemed purchase with all statements about it.
package struct KnownPurchaseResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "KnownPurchase", "A redeemed purchase, with the statements about it."
    ).noting([
        "owner": "The owner; absent if the user was erased.",
        "productId": "The product of the last transaction.",
        "state": .purchaseState(),
        "since": .time(),
        "until": .time(),
        "renews": "Absent if the App Store has not stated it.",
        "transactions": "The transactions, newest first.",
        "notifications": "The notifications, newest first, at most 200.",
    ])

    package let owner: UserName?
    package let originalTransactionId: String
    package let origin: Origin
    package let productId: String
    package let state: String
    package let since: String
    package let until: String?
    package let renews: Bool?
    package let expirationReason: String?
    /// The items that the transactions grant.
    package let items: [Item]
    package let transactions: [TransactionResource]
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
package struct StatedNotificationResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "AppStoreNotification", "A notification of the App Store about a purchase."
    ).noting([
        "type": "The type, in Apple's words.",
        "signedAt": .time(),
        "receivedAt": .time(),
        "outcome": .one(of: ["granted", "revoked", "recorded", "parked"]),
        "content": "The decoded notification, without the proofs inside it.",
    ])

    package let notificationUUID: String
    package let origin: Origin
    package let type: String
    package let subtype: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let signedAt: String
    package let receivedAt: String
    package let outcome: String
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
package struct UnclaimedPurchaseResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "purchases"
    package static let schema = Schema(
        of: Self.self, named: "UnclaimedPurchase", "A purchase that nobody has redeemed."
    ).noting([
        "bundleId": "The bundle identifier of the app.",
        "purchaseDate": .time(),
        "statedAt": .time(),
        "revocationDate": .time(),
        "appAccountToken": "An account token that no user has.",
    ])

    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    package let bundleId: String
    package let productId: String
    package let purchaseDate: String
    package let statedAt: String
    package let revocationDate: String?
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
package struct UnrecordedTransactionResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "UnrecordedTransaction",
        "A transaction of an order that the App Store knows, and that nobody has redeemed here."
    ).noting([
        "origin": "Who vouches for it, and where it was bought.",
        "bundleId": "The app.",
        "purchaseDate": .time(),
        "revocationDate": .time(),
    ])

    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    package let bundleId: String
    package let productId: String
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
package struct AssignmentResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "Assignment", "An unclaimed purchase that was assigned to a user."
    ).noting([
        "result": .one(of: ["granted", "alreadyRedeemed", "revoked"])
    ])

    package let transactionId: String
    package let user: UserName
    /// The result in the words of a redemption: `granted`, `alreadyRedeemed` or `revoked`.
    package let result: String
}

/// The reason for owning or not owning an item.
package struct ExplanationResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "Explanation", "The reason why a user owns an item or does not."
    ).noting([
        "cause": .one(of: ItemExplanation.Cause.self),
        "text": "The reason in a sentence or two.",
        "remedy": "The remedy.",
        "since": .time(),
        "until": .time(),
        "reference": "The transaction, or the grant.",
        "otherOwner": "The owner of the purchase that the user could not redeem.",
    ])

    package let item: Item
    package let isOwned: Bool
    package let cause: String
    package let text: String
    package let remedy: String?
    package let since: String?
    package let until: String?
    package let reference: String?
    package let origin: Origin?
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
package struct StoryEntryResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "entries"
    package static let schema = Schema(of: Self.self, named: "StoryEntry", "An entry of a user's story.").noting([
        "happenedAt": .time(),
        "kind": "`notification`, or an event of the audit log.",
        "text": "The entry in a sentence.",
        "actor": "`user`, `App Store`, `till`, or `key` and the identifier of an API key.",
        "actorName": "The name of the API key; absent for another actor, and if the service does not have the key.",
        "subject": "The product, the item or the balance.",
        "reference": "The transaction, the grant or the spending.",
        "reason": "The team's reason, or the code of a refusal.",
        "cause": "The cause of a refusal.",
        "remedy": "The remedy of a refusal.",
        "otherOwner": "The owner of the purchase that the user could not redeem.",
    ])

    package let happenedAt: String
    package let kind: String
    package let text: String
    package let actor: String
    package var actorName: String?
    package var subject: String?
    package var reference: String?
    package var origin: Origin?
    package var reason: String?
    package var cause: String?
    package var remedy: String?
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
