import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// An app on Google Play, or on a local one: the service asks about its purchase tokens, and records each answer before it decides
/// anything by it.
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class GooglePlayApp: Sendable {
    /// The largest number of earlier tokens of a chain about which the service asks.
    private static let maximumChain = 20

    package let client: PlayDeveloperClient
    package let purchases: GooglePurchaseService
    private let presentations: TokenBuckets
    /// The presented tokens of each client address that Google Play does not know.
    private let unknownTokens: AddressBuckets

    /// - Parameters:
    ///   - presentedPerMinute: The tokens that callers may present in a minute. Of the 3000 requests that Google allows, notifications,
    ///     reconciliation and acknowledgements keep the rest.
    ///   - unknownPerMinute: Those of them that Google Play does not know, from one client address. Anybody with the public key of an app
    ///     may present invented ones, and a few addresses must not take the places of all customers.
    package init(
        client: PlayDeveloperClient, app: App, entitlements: EntitlementService, presentedPerMinute: Int = 2000,
        unknownPerMinute: Int = 60
    ) {
        self.client = client
        presentations = TokenBuckets(
            .init(atOnce: presentedPerMinute, perMinute: presentedPerMinute), clock: entitlements.clock)
        unknownTokens = AddressBuckets(
            .init(atOnce: unknownPerMinute, perMinute: unknownPerMinute), clock: entitlements.clock)
        purchases = GooglePurchaseService(
            entitlements: entitlements, app: app, packageName: client.packageName,
            origins: Set([false, true].map { Origin(googlePlay: client.realm, isTest: $0) }))
    }

    /// An answer of Google Play, and the record of its token.
    package struct Answer: Sendable {
        package let statement: GooglePlayStatement
        package let purchase: GooglePurchase
    }

    /// Asks about a token, and records the answer.
    ///
    /// - Throws: `PlayDeveloperError`; nothing is then recorded. `StorageFault`.
    package func ask(
        about token: String, within patience: PlayDeveloperClient.Patience = .schedule
    ) async throws -> Answer {
        try await ask(about: token, within: patience, upTo: Self.maximumChain)
    }

    private func ask(
        about token: String, within patience: PlayDeveloperClient.Patience, upTo count: Int
    ) async throws -> Answer {
        let known = try await purchases.purchase(of: token)
        let kind = known.map { $0.isSubscription ? PlayDeveloperClient.Kind.subscription : .product }
        let number = try await purchases.numberOfQuestion(about: known)
        let periods = if let known { try await purchases.periods(of: known) } else { [String: GooglePlayPeriod]() }
        let statement = try await client.statement(
            about: token, as: kind, named: try await purchases.tokenNames, originalToken: known?.originalToken,
            periods: periods, within: patience)
        var original: String?
        if known == nil, let earlier = statement.linkedPurchaseToken ?? statement.expiredPurchaseToken {
            original = try await originalToken(of: earlier, within: patience, upTo: count)
        }
        return Answer(
            statement: statement,
            purchase: try await purchases.record(statement, continuing: original, number: number))
    }

    /// The first token of the chain of an earlier one. It asks about tokens that are not recorded, and records them, too.
    ///
    /// - Parameter count: The largest number of tokens about which to ask.
    private func originalToken(
        of token: String, within patience: PlayDeveloperClient.Patience, upTo count: Int
    ) async throws -> String {
        if let known = try await purchases.purchase(of: token) { return known.originalToken }
        guard count > 0 else { return token }
        do {
            return try await ask(about: token, within: patience, upTo: count - 1).purchase.originalToken
        } catch let error as PlayDeveloperError where error.isOfToken {
            // Google Play forgets a subscription 60 days after its end.
            return token
        }
    }

    /// Asks about a token, and applies the answer to the owner of the purchase, or to the user of its account identifier. A purchase
    /// of nobody is parked until a user presents its token.
    ///
    /// - Parameter notification: The notification to store with the products, by the origin of the purchase; nil for none.
    /// - Returns: The outcomes of the products; none if nothing is owned.
    /// - Throws: `PlayDeveloperError`; nothing is then changed, except that a token which Google Play does not know any more is not
    ///   asked about again. `StorageFault`.
    package func refresh(
        _ token: String, notifiedBy notification: ((Origin) -> NotificationRecord)? = nil,
        within patience: PlayDeveloperClient.Patience = .schedule
    ) async throws -> [NotificationOutcome] {
        let answer: Answer
        do {
            answer = try await ask(about: token, within: patience)
        } catch let error as PlayDeveloperError where error.isOfToken {
            if let known = try await purchases.purchase(of: token) { try await purchases.close(known) }
            throw error
        }
        let outcomes = try await purchases.apply(
            answer.statement, recordedAs: answer.purchase, notifiedBy: notification?(answer.statement.origin))
        await refreshReplaced(by: answer.statement, within: patience)
        return outcomes
    }

    /// Ends the purchase that another one has replaced, once that one is decided. If Google Play fails, the service asks again by
    /// itself.
    func refreshReplaced(
        by statement: GooglePlayStatement, within patience: PlayDeveloperClient.Patience
    ) async {
        guard let token = statement.linkedPurchaseToken,
            let replaced = try? await purchases.purchase(of: token), !replaced.isFinal
        else { return }
        _ = try? await refresh(token, within: patience)
    }
}

/// The redemption of tokens.
extension GooglePlayApp {
    /// Redeems a token for a user.
    ///
    /// - Throws: As `presented` does; `RedemptionError` for a user whose name is blocked.
    package func redeem(_ token: String, for user: User, by actor: AuditActor) async throws {
        let (presented, statement) = try await presented(token)
        let request = try purchases.entitlements.request(presented, for: user, by: actor)
        _ = try await purchases.entitlements.answer(request)
        if let statement { await refreshReplaced(by: statement, within: .person) }
    }

    /// The purchases of a token that a user presents.
    ///
    /// - Parameter address: The client address of a stranger; nil for a caller whom the team has named, and for a signed purchase.
    /// - Returns: The purchases, and the statement that they are from; nil for those that the ledger alone knows.
    /// - Throws: `RedemptionError` for a purchase that is not paid; `PlayDeveloperError` if Google Play cannot be asked, or does not
    ///   know the token. The purchase is then neither granted nor refused, unless the error is of the token.
    func presented(
        _ token: String, from address: String? = nil
    ) async throws -> (purchases: EntitlementService.VerifiedPurchases, statement: GooglePlayStatement?) {
        // A customer who shares the address of somebody who invents tokens still gets a purchase that the ledger knows.
        var counted = address
        if address != nil, try await purchases.purchase(of: token) != nil { counted = nil }
        // The place of a token is taken before the question, so that many at once are no more than one after another.
        if let counted, let seconds = unknownTokens.take(from: counted) {
            throw PlayDeveloperError.limited(seconds: seconds)
        }
        var isUnknown = false
        defer { if let counted, !isUnknown { unknownTokens.returnToken(from: counted) } }
        if let seconds = presentations.take("") { throw PlayDeveloperError.limited(seconds: seconds) }
        let answer: Answer
        do {
            answer = try await ask(about: token, within: .person)
        } catch let error as PlayDeveloperError where error.isOfToken {
            // Google Play forgets a consumed purchase when the product is bought again.
            guard let redeemed = try await purchases.redeemedPurchases(ofToken: token) else {
                isUnknown = true
                throw error
            }
            try checkOrigin(redeemed.origin)
            return (redeemed, nil)
        }
        try checkOrigin(answer.statement.origin)
        guard let stated = try await purchases.purchases(of: answer.statement, recordedAs: answer.purchase) else {
            guard let redeemed = try await purchases.redeemedPurchases(of: answer.purchase) else {
                throw RedemptionError.purchaseNotOwned
            }
            return (redeemed, answer.statement)
        }
        try checkPurchases(of: answer.statement)
        return (stated, answer.statement)
    }

    /// The statement about a token that a caller presents, of which nothing is redeemed.
    ///
    /// - Throws: As `presented` does, for a token that Google Play has forgotten, too.
    func statement(about token: String) async throws -> GooglePlayStatement {
        if let seconds = presentations.take("") { throw PlayDeveloperError.limited(seconds: seconds) }
        let statement = try await ask(about: token, within: .person).statement
        try checkOrigin(statement.origin)
        try checkPurchases(of: statement)
        return statement
    }

    private func checkPurchases(of statement: GooglePlayStatement) throws(RedemptionError) {
        guard statement.purchases.isEmpty else { return }
        throw statement.refusal.map(RedemptionError.refused) ?? .purchaseNotOwned
    }

    /// Refuses the purchase of a license tester, who pays nothing, unless some user may have it, as the verifier of proofs does.
    private func checkOrigin(_ origin: Origin) throws(RedemptionError) {
        guard !purchases.entitlements.accepted.all.contains(origin) else { return }
        throw .refused(
            ProofRefusal(.originNotAccepted, "The purchase is from \(origin.rawValue), which is no accepted origin."))
    }
}

/// The apps of a service on Google Play that it may ask about.
package typealias GooglePlayApps = [GooglePlayApp]

extension GooglePlayApps {
    /// The app of a package name; nil if the service has no service account for it.
    package subscript(package name: String) -> GooglePlayApp? {
        first { $0.client.packageName.hasSameBytes(as: name) }
    }

    /// The app of a package name that a caller sends, or does not send.
    ///
    /// - Parameter app: The bundle identifier of the only app whose purchases the caller may send; nil for all apps.
    /// - Throws: `RedemptionError` if the name is of no app of the caller, or if it is missing although there are several.
    func app(named name: String?, among app: String?) throws(RedemptionError) -> GooglePlayApp {
        let own = filter { each in app.map(each.purchases.app.bundleIdentifier.hasSameBytes) ?? true }
        guard let name else {
            guard let only = own.first, own.count == 1 else {
                throw .refused(
                    own.isEmpty
                        ? ProofRefusal(.serviceAccountMissing)
                        : ProofRefusal(
                            .bundleIdentifierMismatch,
                            "The request names no app, and the service asks about several. Send packageName."))
            }
            return only
        }
        guard let named = own.first(where: { $0.client.packageName.hasSameBytes(as: name) }) else {
            throw .refused(
                ProofRefusal(
                    .bundleIdentifierMismatch,
                    "The service has no service account of Google Play for the package \"\(name.prefix(155))\"."))
        }
        return named
    }
}
