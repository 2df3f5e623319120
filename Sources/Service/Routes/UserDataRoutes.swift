import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

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
            let account = try await accounts.confirmed(try body.credential("password"), context)
            try await accounts.accounts.erase(account, by: try context.requiredCaller.actor, at: clock.now())
            return .noContent
        }
        group.on(.exportUser, .exportOwnData) { request, context in
            let user = try subjects.user(request, context, ofAnyIssuer: true)
            // The names of keys are the team's.
            let isNaming = try context.requiredCaller.isBackEnd
            let json = try await UserExport(service: service, clock: clock).json(of: user, namingKeys: isNaming)
            guard let json else { throw Problem.userNotFound }
            return JSONAnswer.response(bytes: json, headers: [.cacheControl: "no-store"])
        }
    }

    private func erase(_ user: User, _ context: ServiceContext) async throws -> HTTPResponse.Status {
        let actor = try context.requiredCaller.actor
        let isKnown = try await service.ledger.write { try $0.erase(user, by: actor, at: service.clock.now()) }
        guard isKnown else { throw Problem.userNotFound }
        return .noContent
    }
}

/// The export of all data of one user.
package struct UserExport: Sendable {
    private let service: EntitlementService
    private let clock: any WallClock

    package init(service: EntitlementService, clock: any WallClock) {
        self.service = service
        self.clock = clock
    }

    /// The archive of a user as JSON; nil for an unknown user.
    ///
    /// - Parameter namingKeys: True to name the API keys, which are the team's.
    package func json(of user: User, namingKeys: Bool) async throws -> [UInt8]? {
        let (origins, moment) = (service.accepted.origins(for: user), clock.now())
        // The export may be large. It runs in a read that blocks no writer.
        let archive = try await service.ledger.read { transaction in
            try UserArchiveResource(
                of: user, in: transaction, accepting: origins, at: moment,
                naming: namingKeys ? try transaction.apiKeyNames() : [:])
        }
        return try archive.map { try JSONAnswer.encode($0) }
    }
}

/// All data of one user.
package struct UserArchiveResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "UserArchive", "All data of a user.").noting([
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

    /// A session of the user on a device.
    package struct Session: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, "A session.").noting([
            "beganAt": .time("The time of the event."),
            "endsAt": .time("The expiration, unless the session is renewed."),
        ])

        let beganAt: String
        package let endsAt: String

        init(_ session: SessionRecord) {
            beganAt = session.beganAt.rfc3339
            endsAt = session.endsAt.rfc3339
        }
    }

    /// A mail about the account. Its text is not kept.
    package struct Mail: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, "A mail, without its text, which the service does not store.")
            .noting([
                "purpose": .one(of: LinkPurpose.self, "The purpose."),
                "email": "The recipient.",
                "askedAt": .time("The time of the request."),
                "sentAt": .time("The time of the sending; absent if it was not sent."),
            ])

        package let purpose: String
        package let email: String
        let askedAt: String
        package let sentAt: String?

        init(_ mail: QueuedMail) {
            purpose = mail.purpose.rawValue
            email = mail.email
            askedAt = mail.createdAt.rfc3339
            sentAt = mail.sentAt?.rfc3339
        }
    }

    /// A product on the user's wish list.
    package struct Wish: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, "A wish.").noting([
            "productId": "The product.", "wishedAt": .time("The time of the wish."),
        ])

        package let productId: String
        package let wishedAt: String

        init(_ wish: Features.Wish) {
            productId = wish.productIdentifier
            wishedAt = wish.wishedAt.rfc3339
        }
    }

    /// The user's details in the seed's own app.
    package struct Member: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self).noting([
            "phoneNumber": "A phone number.",
            "email": "An e-mail address.",
            "fcmToken": "Firebase Cloud Messaging's name for the device.",
            "birth": "The date of birth, as the app writes it.",
            "gender": "The gender, in the app's numbers.",
            "joinedAt": .time("The time of the event."),
        ])

        let phoneNumber: String
        package let email: String
        let fcmToken: String
        let birth: String
        let gender: Int
        let joinedAt: String

        init(_ member: MemberRecord) {
            phoneNumber = member.phoneNumber
            email = member.email
            fcmToken = member.fcmToken
            birth = member.birth
            gender = member.gender
            joinedAt = member.joinedAt.rfc3339
        }
    }

    /// An entry of the user's audit log.
    package struct Event: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, named: "UserEvent", "A change of a user's possessions.")
            .noting([
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

        package let happenedAt: String
        package let event: String
        package let actor: String
        package let actorName: String?
        package let origin: Origin?
        package let reference: String
        package let subject: String
        package let reason: String?

        /// - Parameter keys: The names of API keys by their identifiers.
        init(_ entry: AuditEntry, naming keys: [String: String]) {
            happenedAt = entry.happenedAt.rfc3339
            event = entry.event.rawValue
            actor = entry.actor.description
            actorName = entry.actor.keyIdentifier.flatMap { keys[$0] }
            origin = entry.origin
            reference = entry.reference
            subject = entry.subject
            reason = entry.reason
        }
    }

    /// A purchase that an import expects, and that nobody has proved.
    package struct ExpectedPurchase: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, "An expected purchase, which grants nothing.").noting([
            "originalTransactionId": "The original transaction.",
            "bundleId": "The bundle identifier of the app.",
            "productId": "The product, as the former server states it.",
            "purchaseDate": .time("The date of the newest transaction, as the former server states it."),
            "expiresAt": .time(
                "The end of the newest transaction, as the former server states it; absent for none."),
        ])

        package let originalTransactionId: String
        package let origin: Origin
        package let bundleId: String
        package let productId: String
        package let purchaseDate: String
        package let expiresAt: String?

        init(_ purchase: ImportedCustomer.ExpectedPurchase) {
            originalTransactionId = purchase.originalTransactionIdentifier
            origin = purchase.origin
            bundleId = purchase.app
            productId = purchase.productIdentifier
            purchaseDate = purchase.purchaseDate.rfc3339
            expiresAt = purchase.expiresAt?.rfc3339
        }
    }

    /// The last statement of the App Store about the renewal of a subscription.
    package struct RenewalInfo: Codable, SchemaSource, Sendable {
        package static let schema = Schema(
            of: Self.self, named: "RenewalInfo", "The last statement about the renewal of a subscription."
        ).noting([
            "originalTransactionId": "The purchase.",
            "signedDate": .time("The time of the signature."),
            "facts": .renewalFacts,
        ])

        let originalTransactionId: String
        let origin: Origin
        let signedDate: String
        /// The stated facts, under Apple's names. Facts that the App Store has not stated are absent.
        let facts: [String: JSONContent]

        init(_ subscription: SubscribedPurchase) {
            originalTransactionId = subscription.originalTransactionIdentifier
            origin = subscription.origin
            signedDate = subscription.renewal.statedAt.rfc3339
            facts = subscription.renewal.facts.content
        }
    }

    let exportedAt: String
    package let user: UserName
    let firstSeenAt: String
    package let appAccountToken: String
    package var aliases: [UserName]?
    /// The account. Nil if the user has none with the service.
    package var account: AccountResource?
    package let sessions: [Session]
    package var mails: [Mail]?
    package var member: Member?
    package let attributes: [AttributeResource]
    package var nickname: String?
    package let chosen: [Item]
    package let wishes: [Wish]
    package let items: [Item]
    package let transactions: [TransactionResource]
    package var expectedPurchases: [ExpectedPurchase]?
    let renewalInfos: [RenewalInfo]
    package let grants: [GrantResource]
    package let balances: [Credit]
    package let events: [Event]
}

extension UserArchiveResource {
    /// Reads all data of a user. Nil for an unknown user.
    ///
    /// - Parameters:
    ///   - origins: The origins whose purchases are valid for the user.
    ///   - keys: The names of API keys by their identifiers.
    fileprivate init?(
        of user: User,
        in transaction: LedgerTransaction,
        accepting origins: Set<Origin>,
        at moment: Timestamp,
        naming keys: [String: String]
    ) throws {
        guard let known = try transaction.knownUser(user) else { return nil }
        let (aliases, mails) = (try transaction.aliases(of: user), try transaction.mails(about: user))
        let profile = try transaction.profile(of: user, accepting: origins, at: moment)
        let expected = try transaction.expectedPurchases(of: user)
        self.init(
            exportedAt: moment.rfc3339, user: UserName(user), firstSeenAt: known.firstSeenAt.rfc3339,
            appAccountToken: known.appAccountToken.uuidString.lowercased(),
            aliases: aliases.isEmpty ? nil : aliases.map { UserName($0) },
            account: try transaction.account(of: user).map { AccountResource($0) },
            sessions: try transaction.sessions(of: user).map { Session($0) },
            mails: mails.isEmpty ? nil : mails.map { Mail($0) },
            member: try transaction.member(of: user).map { Member($0) },
            attributes: try transaction.statedAttributes(of: user).compactMap { AttributeResource($0) },
            nickname: profile.nickname, chosen: profile.chosen, wishes: profile.wishes.map { Wish($0) },
            items: profile.items,
            transactions: try transaction.transactions(of: user, before: nil, limit: .max)
                .map { TransactionResource($0, naming: keys) },
            expectedPurchases: expected.isEmpty ? nil : expected.map { ExpectedPurchase($0) },
            renewalInfos: try transaction.renewals(of: user).map { RenewalInfo($0) },
            grants: try transaction.grants(of: user, before: nil, limit: .max).map { GrantResource($0, naming: keys) },
            balances: try transaction.balances(of: user, accepting: origins),
            events: try transaction.auditWithMerged(of: user).map { Event($0.entry, naming: keys) })
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
