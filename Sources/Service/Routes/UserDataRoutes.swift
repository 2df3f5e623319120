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
            let body = try await JSONBody(request, context, fields: ["password"])
            let password = try body.text("password", upTo: JSONBody.maximumCredentialLength)
            let account = try await accounts.confirmed(password, context)
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
        guard try await service.erase(user, by: try context.requiredCaller.actor) else { throw Problem.userNotFound }
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
package struct UserArchiveResource: Codable, Sendable {
    /// A session of the user on a device.
    package struct Session: Codable, Sendable {
        let beganAt: String
        package let endsAt: String

        init(_ session: SessionRecord) {
            beganAt = session.beganAt.rfc3339
            endsAt = session.endsAt.rfc3339
        }
    }

    /// A mail about the account. Its text is not kept.
    package struct Mail: Codable, Sendable {
        /// `verification`, `reset`, `addressChange` or `newAddress`.
        package let purpose: String
        /// The recipient.
        package let email: String
        let askedAt: String
        /// The date of sending. Nil if the mail was not sent.
        package let sentAt: String?

        init(_ mail: QueuedMail) {
            purpose = mail.purpose.rawValue
            email = mail.email
            askedAt = mail.createdAt.rfc3339
            sentAt = mail.sentAt?.rfc3339
        }
    }

    /// A product on the user's wish list.
    package struct Wish: Codable, Sendable {
        package let productId: String
        package let wishedAt: String

        init(_ wish: Features.Wish) {
            productId = wish.productIdentifier
            wishedAt = wish.wishedAt.rfc3339
        }
    }

    /// The user's details in the seed's own app.
    package struct Member: Codable, Sendable {
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
    package struct Event: Codable, Sendable {
        package let happenedAt: String
        package let event: String
        package let actor: String
        /// The name of the API key; nil for another actor, if the ledger does not have the key, and for the user's own app.
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
    package struct ExpectedPurchase: Codable, Sendable {
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
    package struct RenewalInfo: Codable, Sendable {
        let originalTransactionId: String
        let origin: Origin
        /// RFC 3339, UTC.
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

    /// Dates are RFC 3339, UTC.
    let exportedAt: String
    package let user: UserName
    let firstSeenAt: String
    package let appAccountToken: String
    /// The ids that became the user's by log-ins. Nil if there are none.
    package var aliases: [UserName]?
    /// The account. Nil if the user has none with the service.
    package var account: AccountResource?
    /// The sessions, newest first.
    package let sessions: [Session]
    /// The mails of the last days, oldest first. Nil if there are none.
    package var mails: [Mail]?
    /// The member. Nil if the user has not signed up in the seed's own app.
    package var member: Member?
    /// The attributes, in the order of their names.
    package let attributes: [AttributeResource]
    /// The nickname. Nil until the user chooses one.
    package var nickname: String?
    /// The choice in each collection, owned or not.
    package let chosen: [Item]
    package let wishes: [Wish]
    package let items: [Item]
    package let transactions: [TransactionResource]
    /// The purchases that an import expects. Nil if there are none.
    package var expectedPurchases: [ExpectedPurchase]?
    /// The last statements about the renewal of each subscription.
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
