import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

extension KnownUser: AnswerObject, Listed {
    package static let listName = "users"
    package static let answerFields = AnswerFields<Self>("A user in the ledger.", named: "KnownUser") {
        $0.field("user") { UserName($0.user) }
        $0.field(
            "appAccountToken", "The account token that the user's purchases may contain.",
            \.appAccountToken.lowercasedString)
        $0.field("firstSeenAt", \.firstSeenAt)
    }
}

struct PurchaseLookup: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "The purchases of a transaction or an order.", named: "PurchaseLookup"
    ) {
        $0.field("purchases", \.purchases)
        $0.field("unclaimed", \.unclaimed)
        $0.field(
            "orderId", "The order that the App Store was asked about; absent if the identifier is a transaction.",
            \.orderId)
        $0.field(
            "unrecorded",
            "The transactions of the order that the App Store knows and nobody has redeemed here; absent without an order.",
            \.unrecorded)
    }

    /// The redeemed purchases. There are several if several origins use the identifier.
    let purchases: [KnownPurchase]
    let unclaimed: [UnclaimedPurchase]
    var orderId: String?
    var unrecorded: [UnrecordedTransaction]?
}

extension KnownPurchase: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A redeemed purchase, with the statements about it.", named: "KnownPurchase"
    ) {
        $0.field("owner", "The owner; absent if the user was erased.") { $0.owner.map { UserName($0) } }
        $0.field(
            "ownerErased",
            "True if the owner was erased. `PUT /v1/transactions/{transaction}/owner` moves the purchase."
        ) { $0.owner == nil }
        $0.field("originalTransactionId", \.status.originalTransactionIdentifier)
        $0.field("origin", \.status.origin)
        $0.field("productId", "The product of the last transaction.", \.status.productIdentifier)
        $0.field("state", .purchaseState(), \.status.state.rawValue)
        $0.field("since", \.status.since)
        $0.field("until", \.status.until)
        $0.field("renews", "Absent if the store has not stated it.", \.status.renews)
        $0.field("pausedUntil", "The end of the pause.", \.status.pausedUntil)
        $0.field("cancelledBy", .canceler, \.status.ending?.canceler)
        $0.field("expirationReason", \.status.expirationReason?.rawValue)
        $0.field("items", \.items)
        $0.field("transactions", "The transactions, newest first.", \.transactions)
        $0.field("notifications", "The notifications, newest first, at most 200.", \.notifications)
    }
}

extension StatedNotification: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A notification of a store about a purchase.", named: "AppStoreNotification"
    ) {
        $0.field("notificationUUID", \.notificationUUID)
        $0.field("origin", \.origin)
        $0.field("type", "The type, in the store's words.", \.type)
        $0.field("subtype", \.subtype)
        $0.field("transactionId", \.transactionIdentifier)
        $0.field("originalTransactionId", \.originalTransactionIdentifier)
        $0.field("signedAt", \.signedAt)
        $0.field("receivedAt", \.receivedAt)
        $0.field("outcome", .one(of: ["granted", "revoked", "recorded", "parked"]), \.outcome.rawValue)
        $0.field("content", "The decoded notification, without the proofs inside it.") {
            $0.content.flatMap(JSONContent.init(json:))
        }
    }
}

extension UnclaimedPurchase: AnswerObject, Listed {
    package static let listName = "purchases"
    package static let answerFields = AnswerFields<Self>(
        "A purchase that nobody has redeemed.", named: "UnclaimedPurchase"
    ) {
        $0.field("transactionId", \.transactionIdentifier)
        $0.field("originalTransactionId", \.originalTransactionIdentifier)
        $0.field("origin", \.origin)
        $0.field("bundleId", "The bundle identifier of the app.", \.app)
        $0.field("productId", \.productIdentifier)
        $0.field("purchaseDate", \.purchaseDate)
        $0.field("statedAt", \.statedAt)
        $0.field("revocationDate", \.revocationDate)
        $0.field("appAccountToken", "An account token that no user has.", \.appAccountToken?.lowercasedString)
        $0.field("item", \.item)
    }
}

struct UnrecordedTransaction: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "A transaction of an order that the App Store knows, and that nobody has redeemed here.",
        named: "UnrecordedTransaction"
    ) {
        $0.field("transactionId", \.stated.transactionId)
        $0.field("originalTransactionId", \.stated.originalTransactionId)
        $0.field("origin", "Who vouches for it, and where it was bought.", \.origin)
        $0.field("bundleId", "The app.", \.stated.bundleId)
        $0.field("productId", \.stated.productId)
        $0.field("purchaseDate", \.stated.purchaseDate)
        $0.field("revocationDate", \.stated.revocationDate)
        $0.field("appAccountToken") { $0.stated.facts.text(.appAccountToken) }
    }

    let stated: JWSTransactionDecodedPayload
    let origin: Origin
}

struct Assignment: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "An unclaimed purchase that was assigned to a user.", named: "Assignment"
    ) {
        $0.field("transactionId", \.transactionId)
        $0.field("user", \.user)
        $0.field("result", .one(of: ["granted", "alreadyRedeemed", "revoked"]), \.result.rawValue)
    }

    let transactionId: String
    let user: UserName
    let result: Redemption.Result
}

extension ItemExplanation: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The reason why a user owns an item or does not.", named: "Explanation"
    ) {
        $0.field("item", \.item)
        $0.field("isOwned", \.isOwned)
        $0.field("cause", \.cause)
        $0.field("text", "The reason in a sentence or two.", \.sentence)
        $0.field("remedy", "The remedy.", \.remedy)
        $0.field("since", \.since)
        $0.field("until", \.until)
        $0.field("reference", "The transaction, or the grant.", \.reference)
        $0.field("origin", \.origin)
        $0.field("otherOwner", "The owner of the purchase that the user could not redeem.") {
            $0.otherOwner.map { UserName($0) }
        }
    }
}

extension ItemExplanation.Cause: AnswerValue {}

extension StoryEntry: AnswerObject, Listed {
    package static let listName = "entries"
    package static let answerFields = AnswerFields<Self>("An entry of a user's story.", named: "StoryEntry") {
        $0.field("happenedAt", \.happenedAt)
        $0.field("kind", "`notification`, or an event of the audit log.") {
            $0.event?.event.rawValue ?? "notification"
        }
        $0.field("text", "The entry in a sentence.", \.sentence)
        $0.field("actor", "`user`, `App Store`, `Google Play`, `till`, or `key` and the identifier of an API key.") {
            $0.event?.actor.description ?? ($0.notification?.origin.store ?? .appStore).name
        }
        $0.keyName(
            "actorName",
            note: "The name of the API key; absent for another actor, and if the service does not have the key.",
            \.event?.actor.keyIdentifier)
        $0.field("subject", "The event's subject, such as a product, an item or a balance.", \.event?.subject)
        $0.field("reference", "The event's reference, such as a transaction, a grant or a spending.") {
            $0.event?.reference ?? $0.notification?.transactionIdentifier
        }
        $0.field("origin") { $0.event?.origin ?? $0.notification?.origin }
        $0.field("reason", "The event's reason, such as the team's words or the code of a refusal.", \.event?.reason)
        $0.field("cause", "The cause of a refusal.", \.refusal?.cause)
        $0.field("remedy", "The remedy of a refusal.", \.refusal?.remedy)
        $0.field("otherOwner", "The owner of the purchase that the user could not redeem.", \.otherOwner)
        $0.field("notification", \.notification)
    }

    private var event: AuditEntry? {
        if case .event(let event, _, _) = content { event } else { nil }
    }

    private var notification: StatedNotification? {
        if case .notification(let notification) = content { notification } else { nil }
    }

    private var otherOwner: UserName? {
        if case .event(_, _, let owner?) = content { UserName(owner) } else { nil }
    }

    private var refusal: RefusalRemedy? {
        event.flatMap { $0.event == .refused ? $0.reason : nil }.flatMap { RefusalRemedy(code: $0) }
    }
}
