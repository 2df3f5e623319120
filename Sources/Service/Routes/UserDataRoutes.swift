import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// Routes for the export and the erasure of a user's data.
struct UserDataRoutes: Sendable {
    let service: EntitlementService
    let subjects: Subjects
    let clock: any WallClock
    /// Nil if the service keeps no accounts.
    let accounts: AccountRoutes?

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.eraseUser) { request, context in
            try await erase(try subjects.user(request, context, ofAnyIssuer: true), context)
        }
        group.on(.eraseOneself) { request, context in
            let user = try context.requiredUser
            guard let accounts, user.issuer == User.accountIssuer else { return try await erase(user, context) }
            let body = try await JSONBody(request, context, of: .eraseOneself)
            let account = try await accounts.confirmed(try body.credential("password"), request, context)
            try await accounts.accounts.erase(account, by: try context.requiredCaller.actor, at: clock.now())
            return .noContent
        }
        group.on(.exportUser, .exportOwnData) { request, context in
            let user = try subjects.user(request, context, ofAnyIssuer: true)
            // The names of keys are the team's.
            let isNaming = try context.requiredCaller.isBackEnd
            let json = try await service.export(of: user, at: clock.now(), namingKeys: isNaming)
            guard let json else { throw try await subjects.notFound(user, by: context, in: service.ledger) }
            return JSONAnswer.response(bytes: json, headers: [.cacheControl: "no-store"])
        }
    }

    private func erase(_ user: User, _ context: ServiceContext) async throws -> HTTPResponse.Status {
        let actor = try context.requiredCaller.actor
        let isKnown = try await service.ledger.write { try $0.erase(user, by: actor, at: service.clock.now()) }
        guard isKnown else { throw try await subjects.notFound(user, by: context, in: service.ledger) }
        return .noContent
    }
}

extension EntitlementService {
    /// The archive of a user as JSON; nil for an unknown user.
    ///
    /// - Parameter namingKeys: True to name the API keys, which are the team's.
    package func export(of user: User, at moment: Timestamp, namingKeys: Bool) async throws -> [UInt8]? {
        let origins = accepted.origins(for: user)
        // The export may be large. It runs in a read that blocks no writer.
        return try await ledger.read { transaction in
            guard let known = try transaction.customer(user) else { return nil }
            let archive = UserArchive(
                transaction: transaction, user: user, exportedAt: moment, firstSeenAt: known.firstSeenAt,
                appAccountToken: known.appAccountToken, origins: origins,
                profile: try transaction.profile(of: user, accepting: origins, at: moment))
            return try archive.json(naming: namingKeys ? try transaction.apiKeyNames() : [:])
        }
    }
}

/// All data of one user, read from the ledger field by field.
struct UserArchive: AnswerObject {
    static let answerFields = AnswerFields<Self>("All data of a user.", named: "UserArchive") {
        $0.field("exportedAt", "The time of the export.", \.exportedAt)
        $0.field("user", "The user.") { UserName($0.user) }
        $0.field("firstSeenAt", "The time at which the service first saw the user.", \.firstSeenAt)
        $0.field(
            "appAccountToken", "The token that the app sets on its purchases, in lowercase.", \.appAccountToken)
        $0.field("aliases", "The ids that became the user's by log-ins. Absent if there are none.") {
            try $0.transaction.aliases(of: $0.user).map { UserName($0) }.nonEmpty
        }
        $0.field("account") { try $0.transaction.account(of: $0.user) }
        $0.field("sessions", "The sessions of the user, newest first.") { try $0.transaction.sessions(of: $0.user) }
        $0.field("mails", "The mails about the account in the last days, oldest first; absent if there are none.") {
            try $0.transaction.mails(about: $0.user).nonEmpty
        }
        $0.field(
            "member", "The user's entries in the seed's own app; absent if the user has not signed up there."
        ) { try $0.transaction.member(of: $0.user) }
        $0.field("attributes", "The attributes, in the order of their names.") {
            try $0.transaction.statedAttributes(of: $0.user).filter { $0.value != nil }
        }
        $0.field("nickname", "Absent if the user has no nickname.", \.profile.nickname)
        $0.field("chosen", "The chosen item of each collection, owned or not.", \.profile.chosen)
        $0.field("wishes", "The entries, newest first.", \.profile.wishes)
        $0.field("items", "The items of the user, without those that everybody owns.", \.profile.items)
        $0.field("transactions", "The entries, newest first.") {
            try $0.transaction.transactions(of: $0.user, before: nil, limit: .max)
        }
        $0.field(
            "expectedPurchases",
            "The purchases that an import expects, and that nobody has proved; absent if there are none."
        ) { try $0.transaction.expectedPurchases(of: $0.user).nonEmpty }
        $0.field("renewalInfos", "The last statement about the renewal of each subscription.") {
            try $0.transaction.renewals(of: $0.user)
        }
        $0.field("grants", "The entries, newest first.") {
            try $0.transaction.grants(of: $0.user, before: nil, limit: .max)
        }
        $0.field("balances", "The balances.") { try $0.transaction.balances(of: $0.user, accepting: $0.origins) }
        $0.field("events", "The events, oldest first.") {
            try $0.transaction.auditWithMerged(of: $0.user).map(\.entry)
        }
    }

    let transaction: LedgerTransaction
    let user: User
    let exportedAt: Timestamp
    let firstSeenAt: Timestamp
    let appAccountToken: UUID
    /// The origins whose purchases are valid for the user.
    let origins: Set<Origin>
    let profile: ProfileRecord
}

extension SessionRecord: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A session.") {
        $0.field("beganAt", "The time of the event.", \.beganAt)
        $0.field("endsAt", "The expiration, unless the session is renewed.", \.endsAt)
    }
}

extension QueuedMail: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A mail, without its text, which the service does not store.")
    {
        $0.field("purpose", "The purpose.", \.purpose)
        $0.field("email", "The recipient.", \.email)
        $0.field("askedAt", "The time of the request.", \.createdAt)
        $0.field("sentAt", "The time of the sending; absent if it was not sent.", \.sentAt)
    }
}

extension LinkPurpose: AnswerValue {}

extension Wish: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A wish.") {
        $0.field("productId", "The product.", \.productIdentifier)
        $0.field("wishedAt", "The time of the wish.", \.wishedAt)
    }
}

extension MemberRecord: AnswerObject {
    package static let answerFields = AnswerFields<Self> {
        $0.field("phoneNumber", "A phone number.", \.phoneNumber)
        $0.field("email", "An e-mail address.", \.email)
        $0.field("fcmToken", "Firebase Cloud Messaging's name for the device.", \.fcmToken)
        $0.field("birth", "The date of birth, as the app writes it.", \.birth)
        $0.field("gender", "The gender, in the app's numbers.", \.gender)
        $0.field("joinedAt", "The time of the event.", \.joinedAt)
    }
}

extension AuditEntry: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A change of a user's possessions.", named: "UserEvent") {
        $0.field("happenedAt", "The time of the event.", \.happenedAt)
        $0.field(
            "event",
            "The kind: \(AuditEntry.Event.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")).",
            \.event.rawValue)
        $0.field(
            "actor", "The actor: `user`, `App Store`, `Google Play`, `till`, or `key` and an API key's identifier.",
            \.actor.description)
        $0.keyName(
            "actorName",
            note:
                "The name of the API key; absent for another actor, if the service does not have the key, and for an app.",
            \.actor.keyIdentifier)
        $0.field("origin", "The origin of the purchase; absent without a purchase.", \.origin)
        $0.field("reference", "The transaction, the grant or the spending.", \.reference)
        $0.field("subject", "The product, the item or the balance.", \.subject)
        $0.field("reason", "The reason; absent if none was given.", \.reason)
        $0.field(
            "refundedAmount",
            "The money that the store has paid back, in thousandths of `currency`; absent if the event is no refund, or the amount is unknown.",
            \.refund?.milliunits)
        $0.field("currency", "The ISO 4217 code of `refundedAmount`; absent without one.", \.refund?.currency)
    }
}

extension ExpectedPurchase: AnswerObject {
    package static let answerFields = AnswerFields<Self>("An expected purchase, which grants nothing.") {
        $0.field("originalTransactionId", "The original transaction.", \.originalTransactionIdentifier)
        $0.field("origin", \.origin)
        $0.field("bundleId", "The bundle identifier of the app.", \.app)
        $0.field("productId", "The product, as the former server states it.", \.productIdentifier)
        $0.field(
            "purchaseDate", "The date of the newest transaction, as the former server states it.", \.purchaseDate)
        $0.field(
            "expiresAt", "The end of the newest transaction, as the former server states it; absent for none.",
            \.expiresAt)
    }
}

extension SubscribedPurchase: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The last statement about the renewal of a subscription.", named: "RenewalInfo"
    ) {
        $0.field("originalTransactionId", "The purchase.", \.originalTransactionIdentifier)
        $0.field("origin", \.origin)
        $0.field("signedDate", "The time of the signature.", \.renewal.statedAt)
        $0.field("facts", .renewalFacts, \.renewal.facts.content)
    }
}

extension APIOperation {
    static let userData = [
        eraseOneself, exportUser, exportOwnData, eraseUser,
    ]

    static let eraseOneself = APIOperation(
        .post, "/v1/me/erasure", for: .app, usesReserve: true,
        "eraseOneself", "Erases the user's personal data",
        body: .json(
            .object("The password.").fields(["password": .text("The account's password.", upTo: 256).optional]).closed,
            isRequired: false, "The account's password, if the user has an account of the service."),
        answers: [.empty("The user is erased. Their transactions stay redeemed, under a tombstone.")])

    // All data of a user belongs to no app, as does the erasure.
    static let exportUser = APIOperation(
        .get, "/v1/users/{user}/export", for: .backEnd(.export),
        "exportUser", "Exports all data of a user",
        answers: [.json("The archive.", UserArchive.self)])

    static let exportOwnData = exportUser.own("exportOwnData", "Exports all data of the user", usesReserve: true)

    static let eraseUser = APIOperation(
        .post, "/v1/users/{user}/erasure", for: .backEnd(.erase),
        "eraseUser", "Erases a user's personal data",
        answers: [.empty("The user is erased. Their transactions stay redeemed, under a tombstone.")])
}
