import Features
import HTTPSupport
import Proofs

extension APIOperation {
    static let support = [
        searchUsers, findTransaction, tellStory, explainItem, listUnclaimed, assignUnclaimed,
    ]

    static let searchUsers = APIOperation(
        // A user belongs to no app.
        .get, "/v1/users", for: .backEnd(.support),
        "searchUsers", "Finds users by the prefix of their name, or by their account token",
        parameters: [
            .query(
                "search", "The prefix of a name, or an account token.", .text(length: 1...256), isRequired: true,
                example: "ali")
        ],
        answers: [.page("The users in the order of their names.", of: KnownUserResource.self)])

    static let findTransaction = APIOperation(
        .get, "/v1/transactions/{transaction}", for: .backEnd(.support), isPerApp: true,
        "findTransaction", "The owner of a transaction or an order, and all that was stated about the purchase",
        parameters: [
            .path(
                "transaction",
                "A transaction, an original transaction, or an order number of a receipt. The App Store is asked about an order number.",
                .text(length: 1...256), example: "2000000000000001"), .app,
        ],
        answers: [.json("The purchases that the transaction belongs to.", PurchaseLookup.self)],
        or: [.badGateway])

    static let tellStory = APIOperation(
        .get, "/v1/users/{user}/story", for: .backEnd(.support), isPerApp: true,
        "tellStory", "Lists the events of a user, newest first",
        answers: [
            .page("Statements of the App Store, and actions of the user and the team.", of: StoryEntryResource.self)
        ])

    static let explainItem = APIOperation(
        .get, "/v1/users/{user}/items/{collection}/{number}/explanation", for: .backEnd(.support), isPerApp: true,
        "explainItem", "Explains why a user owns an item or does not",
        parameters: [
            .path("collection", "The collection of the item.", .text(length: 1...256), example: "sprout"),
            .path("number", "The number of the item.", .integer(in: 0 ... .max), example: .integer(1)),
        ],
        answers: [.json("The reason, and the remedy.", ExplanationResource.self)])

    static let listUnclaimed = APIOperation(
        .get, "/v1/unclaimed", for: .backEnd(.support), isPerApp: true,
        "listUnclaimed", "Lists the purchases that nobody has redeemed",
        parameters: [
            .query("search", "The identifier of a transaction or an original transaction.", .text(length: 1...256)),
            .app,
        ],
        answers: [.page("The purchases in the order of their transactions.", of: UnclaimedPurchaseResource.self)])

    static let assignUnclaimed = APIOperation(
        .post, "/v1/unclaimed/{transaction}/assignment", for: .backEnd(.grant), isPerApp: true,
        "assignUnclaimed", "Assigns an unclaimed purchase to a user, as if the user had redeemed it",
        parameters: [
            .path(
                "transaction", "The identifier of a transaction or an original transaction.", .text(length: 1...256),
                example: "2000000000000001"), .origin, .app,
        ],
        body: .json(
            "The user and the reason.",
            [
                "user": .text("The user's name.", length: 1...768),
                "issuer": .text("The issuer of the user's tokens; absent for a user of the back end.").nullable
                    .optional,
                "reason": .text("The reason, in the team's own words.", length: 1...500),
            ]),
        answers: [.json("The user owns the purchase.", AssignmentResource.self)],
        or: [.conflict, .refused])
}

extension KnownUserResource: SchemaSource {
    package static let schema = Schema(
        of: KnownUserResource.self, named: "KnownUser", "A user in the ledger.",
        [
            "appAccountToken": "The account token that the user's purchases may contain.",
            "firstSeenAt": .time(),
        ])
}

extension StatedNotificationResource: SchemaSource {
    package static let schema = Schema(
        of: StatedNotificationResource.self, named: "AppStoreNotification",
        "A notification of the App Store about a purchase.",
        [
            "type": "The type, in Apple's words.",
            "signedAt": .time(),
            "receivedAt": .time(),
            "outcome": .one(of: ["granted", "revoked", "recorded", "parked"]),
            "content": "The decoded notification, without the proofs inside it.",
        ])
}

extension KnownPurchaseResource: SchemaSource {
    package static let schema = Schema(
        of: KnownPurchaseResource.self, named: "KnownPurchase", "A redeemed purchase, with the statements about it.",
        [
            "owner": "The owner; absent if the user was erased.",
            "productId": "The product of the last transaction.",
            "state": .purchaseState(),
            "since": .time(),
            "until": .time(),
            "renews": "Absent if the App Store has not stated it.",
            "transactions": "The transactions, newest first.",
            "notifications": "The notifications, newest first, at most 200.",
        ])
}

extension UnclaimedPurchaseResource: SchemaSource {
    package static let schema = Schema(
        of: UnclaimedPurchaseResource.self, named: "UnclaimedPurchase", "A purchase that nobody has redeemed.",
        [
            "bundleId": "The bundle identifier of the app.",
            "purchaseDate": .time(),
            "statedAt": .time(),
            "revocationDate": .time(),
            "appAccountToken": "An account token that no user has.",
        ])
}

extension UnrecordedTransactionResource: SchemaSource {
    package static let schema = Schema(
        of: UnrecordedTransactionResource.self, named: "UnrecordedTransaction",
        "A transaction of an order that the App Store knows, and that nobody has redeemed here.",
        [
            "origin": "Who vouches for it, and where it was bought.",
            "bundleId": "The app.",
            "purchaseDate": .time(),
            "revocationDate": .time(),
        ])
}

extension PurchaseLookup: SchemaSource {
    package static let schema = Schema(
        of: PurchaseLookup.self, named: "PurchaseLookup", "The purchases of a transaction or an order.",
        [
            "orderId": "The order that the App Store was asked about; absent if the identifier is a transaction.",
            "unrecorded":
                "The transactions of the order that the App Store knows and nobody has redeemed here; absent without an order.",
        ])
}

extension StoryEntryResource: SchemaSource {
    package static let schema = Schema(
        of: StoryEntryResource.self, named: "StoryEntry", "An entry of a user's story.",
        [
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
}

extension ExplanationResource: SchemaSource {
    package static let schema = Schema(
        of: ExplanationResource.self, named: "Explanation", "The reason why a user owns an item or does not.",
        [
            "cause": .one(of: ItemExplanation.Cause.self),
            "text": "The reason in a sentence or two.",
            "remedy": "The remedy.",
            "since": .time(),
            "until": .time(),
            "reference": "The transaction, or the grant.",
            "otherOwner": "The owner of the purchase that the user could not redeem.",
        ])
}

extension AssignmentResource: SchemaSource {
    package static let schema = Schema(
        of: AssignmentResource.self, named: "Assignment", "An unclaimed purchase that was assigned to a user.",
        [
            "result": .one(of: ["granted", "alreadyRedeemed", "revoked"])
        ])
}
