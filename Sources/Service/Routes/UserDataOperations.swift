import Features
import HTTPSupport
import Proofs

extension APIOperation {
    static let userData = [
        eraseOneself, exportUser, exportOwnData, eraseUser,
    ]

    static let eraseOneself = APIOperation(
        .post, "/v1/me/erasure", for: .app, usesReserve: true,
        "eraseOneself", "Erases the user's personal data",
        body: .json(
            .object("The password.", ["password": .text("The account's password.", upTo: 256).optional]).closed,
            isRequired: false, "The account's password, if the user has an account of the service."),
        answers: [Answer(204, "The user is erased. Their transactions stay redeemed, under a tombstone.")])

    // All data of a user belongs to no app, as does the erasure.
    static let exportUser = APIOperation(
        .get, "/v1/users/{user}/export", for: .backEnd(.export),
        "exportUser", "Exports all data of a user",
        answers: [.json("The archive.", UserArchiveResource.self)])

    static let exportOwnData = exportUser.own("exportOwnData", "Exports all data of the user", usesReserve: true)

    static let eraseUser = APIOperation(
        .post, "/v1/users/{user}/erasure", for: .backEnd(.erase),
        "eraseUser", "Erases a user's personal data",
        answers: [Answer(204, "The user is erased. Their transactions stay redeemed, under a tombstone.")])
}

extension UserArchiveResource: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.self, named: "UserArchive", "All data of a user.",
        [
            "exportedAt": .time("The time of the export."),
            "user": "The user.",
            "firstSeenAt": .time("The time at which the service first saw the user."),
            "appAccountToken": .uuid("The token that the app sets on its purchases, in lowercase."),
            "aliases": "The ids that became the user's by log-ins. Absent if there are none.",
            "items": "The items of the user, without those that everybody owns.",
            "transactions": "The entries, newest first.",
            "grants": "The entries, newest first.",
            "balances": "The balances.",
            "events": "The events, oldest first.",
            "attributes": "The attributes, in the order of their names.",
            "nickname": "Absent if the user has no nickname.",
            "chosen": "The chosen item of each collection, owned or not.",
            "wishes": "The entries, newest first.",
            "member": "The user's entries in the seed's own app; absent if the user has not signed up there.",
            "sessions": "The sessions of the user, newest first.",
            "mails": "The mails about the account in the last days, oldest first; absent if there are none.",
            "expectedPurchases":
                "The purchases that an import expects, and that nobody has proved; absent if there are none.",
            "renewalInfos": "The last statement about the renewal of each subscription.",
        ])
}

extension UserArchiveResource.Wish: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.Wish.self, "A wish.",
        ["productId": "The product.", "wishedAt": .time("The time of the wish.")])
}

extension UserArchiveResource.Member: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.Member.self,
        nil,
        [
            "phoneNumber": "A phone number.",
            "email": "An e-mail address.",
            "fcmToken": "Firebase Cloud Messaging's name for the device.",
            "birth": "The date of birth, as the app writes it.",
            "gender": "The gender, in the app's numbers.",
            "joinedAt": .time("The time of the event."),
        ])
}

extension UserArchiveResource.Session: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.Session.self, "A session.",
        [
            "beganAt": .time("The time of the event."),
            "endsAt": .time("The expiration, unless the session is renewed."),
        ])
}

extension UserArchiveResource.Mail: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.Mail.self, "A mail, without its text, which the service does not store.",
        [
            "purpose": .one(of: LinkPurpose.self, "The purpose."),
            "email": "The recipient.",
            "askedAt": .time("The time of the request."),
            "sentAt": .time("The time of the sending; absent if it was not sent."),
        ])
}

extension UserArchiveResource.ExpectedPurchase: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.ExpectedPurchase.self, "An expected purchase, which grants nothing.",
        [
            "originalTransactionId": "The original transaction.",
            "bundleId": "The bundle identifier of the app.",
            "productId": "The product, as the former server states it.",
            "purchaseDate": .time("The date of the newest transaction, as the former server states it."),
            "expiresAt": .time("The end of the newest transaction, as the former server states it; absent for none."),
        ])
}

extension UserArchiveResource.Event: SchemaSource {
    package static let schema = Schema(
        of: UserArchiveResource.Event.self, named: "UserEvent", "A change of a user's possessions.",
        [
            "happenedAt": .time("The time of the event."),
            "event":
                "The kind: `granted`, `revoked`, `productChanged`, `refused`, `transferredIn`, `transferredOut`, `itemGiven`, `itemTakenBack`, `aliased`, `spent`, `expired`, `renewalFailed`, `gracePeriodBegan`, `autoRenewDisabled`, `autoRenewEnabled`.",
            "actor": "The actor: `user`, `App Store`, `till`, or `key` and an API key's identifier.",
            "actorName":
                "The name of the API key; absent for another actor, if the service does not have the key, and for an app.",
            "reference": "The transaction, the grant or the spending.",
            "subject": "The product, the item or the balance.",
            "reason": "The reason; absent if none was given.",
            "origin": "The origin of the purchase; absent without a purchase.",
        ])
}
