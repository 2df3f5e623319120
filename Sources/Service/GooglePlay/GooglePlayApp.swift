import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Synchronization
import Vocabulary

/// An app on Google Play, or on a local one: the service asks about its purchase tokens, and records each answer before it decides
/// anything by it.
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class GooglePlayApp: Sendable {
    /// The largest number of earlier tokens of a chain about which the service asks.
    private static let maximumChain = 20
    /// The questions that notifications about one purchase may cause in a minute. Pub/Sub pushes the others again.
    private static let notificationsPerMinute = 30
    package static let presentedPerMinute = 2000
    /// The largest number of orders that are asked for one by one: those of a year, if a period is a month.
    private static let maximumOrdersAlone = 12
    /// The first questions of a site in a day, which strangers elsewhere cannot use up.
    private static let firstQuestions = 20

    package let client: PlayDeveloperClient
    package let purchases: GooglePurchaseService
    let questions: PurchaseQuestions
    private let presentations: TokenBuckets
    /// The questions that strangers have caused.
    private let strangerQuestions: SharedBudget
    /// The questions that notifications of a purchase have caused.
    private let notified: TokenBuckets
    private let logger: Logger
    private let hasLogged = Mutex<Set<ChainFault>>([])
    /// The limit on lines about purchases that are given up.
    private let lines = LogLimit()
    private let givenUp = Mutex(0)

    /// - Parameters:
    ///   - presentedPerMinute: The questions that callers may cause in a minute, who present tokens. Of the 3000 requests that Google
    ///     allows, notifications, reconciliation and acknowledgements keep the rest.
    ///   - strangersPerMinute: Those of them that strangers at one client address may cause. Anybody with the public key of an app may
    ///     present tokens, and a few networks must not take the places of all customers.
    package init(
        client: PlayDeveloperClient, app: App, entitlements: EntitlementService,
        presentedPerMinute: Int = GooglePlayApp.presentedPerMinute,
        strangersPerMinute: Int = 60, logger: Logger = Logger(label: "till", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.client = client
        self.logger = logger
        questions = PurchaseQuestions(clock: entitlements.clock)
        presentations = TokenBuckets(
            .init(atOnce: presentedPerMinute, perMinute: presentedPerMinute), clock: entitlements.clock)
        strangerQuestions = SharedBudget(
            .init(atOnce: Self.presentedPerMinute, perMinute: Self.presentedPerMinute),
            host: .init(atOnce: strangersPerMinute, perMinute: strangersPerMinute),
            .init(first: Self.firstQuestions), clock: entitlements.clock)
        notified = TokenBuckets(
            .init(atOnce: Self.notificationsPerMinute, perMinute: Self.notificationsPerMinute),
            clock: entitlements.clock)
        purchases = GooglePurchaseService(
            entitlements: entitlements, app: app, packageName: client.packageName,
            origins: Set([false, true].map { Origin(googlePlay: client.realm, isTest: $0) }))
    }

    /// An answer of Google Play, and the record of its token.
    package struct Answer: Sendable {
        package let statement: GooglePlayStatement
        package let purchase: GooglePurchase
    }

    /// The occasion of a question, which says if an earlier answer will do, and whom the question counts against.
    enum Occasion: Sendable {
        /// The purchase may have changed, or it is time to ask. Only the answer to a new question will do.
        case change
        /// The purchase is voided. The list of voided purchases says what was paid back with the goods.
        case voided
        /// The statement about another purchase names the token.
        case link
        /// A caller presents the token.
        ///
        /// - Parameter network: The client network of a stranger; nil for another caller.
        case presentation(from: ClientNetwork?)
    }

    /// Asks about a token, and records the answer.
    ///
    /// - Throws: `PlayDeveloperError`; nothing is then recorded. `StorageFault`.
    package func ask(
        about token: String, within patience: PlayDeveloperClient.Patience = .schedule
    ) async throws -> Answer {
        try await answer(about: token, on: .change, within: patience)
    }

    private func answer(
        about token: String, on occasion: Occasion, within patience: PlayDeveloperClient.Patience
    ) async throws -> Answer {
        let asked = try await question(about: token, on: occasion, within: patience)
        let statement = asked.statement
        let known = try await purchases.purchase(of: token)
        // Another caller has recorded the answer. That to a question about a known token has its number, and changes nothing twice.
        if !asked.isOwn || asked.number == nil, let known, known.askedAt == statement.askedAt {
            return Answer(statement: statement, purchase: known)
        }
        let original =
            known == nil
            ? try await originalToken(continuedBy: statement, on: occasion.ofLinks, within: patience) : nil
        let purchase = try await record(asked, continuing: original, seesOrders: occasion.mayBeRefunded)
        return Answer(statement: statement, purchase: purchase)
    }

    private func question(
        about token: String, on occasion: Occasion, within patience: PlayDeveloperClient.Patience
    ) async throws -> PurchaseQuestions.Asked {
        try await questions.answer(about: token, isNew: occasion.needsNewAnswer) { () throws(PlayDeveloperError) in
            try admit(occasion)
        } _: { [client, purchases] in
            let known = try await purchases.purchase(of: token)
            let kind = known.map { $0.isSubscription ? PlayDeveloperClient.Kind.subscription : .product }
            let number = try await purchases.numberOfQuestion(about: known)
            let lines = if let known { try await purchases.lines(of: known) } else { GooglePlayLines() }
            // A purchase that may have changed may be refunded in part, which Google Play states in its order alone.
            let priced =
                if let known, !occasion.mayBeRefunded { try await purchases.pricedOrders(of: known) } else {
                    Set<String>()
                }
            let statement = try await client.statement(
                about: token, as: kind, named: try await purchases.tokenNames, originalToken: known?.originalToken,
                lines: lines, pricedOrders: priced, within: patience)
            return (statement, number)
        }
    }

    private func record(
        _ asked: PurchaseQuestions.Asked, continuing original: String?, seesOrders: Bool
    ) async throws -> GooglePurchase {
        do {
            return try await purchases.record(
                asked.statement, continuing: original, number: asked.number, seesOrders: seesOrders)
        } catch is LinkedTokensCircle {
            throw circle()
        }
    }

    /// Takes the place of a question before it is asked, so that many at once are no more than one after another. Its answer gives
    /// nothing back, whatever it is.
    private func admit(_ occasion: Occasion) throws(PlayDeveloperError) {
        guard case .presentation(let network) = occasion else { return }
        var taken: SharedBudget.Taken?
        if let network {
            switch strangerQuestions.take(from: network) {
            case .granted(let tokens): taken = tokens
            case .refused(let seconds): throw .limited(seconds: seconds)
            }
        }
        guard let seconds = presentations.take("") else { return }
        if let network, let taken { strangerQuestions.giveBack(taken, from: network) }
        throw .limited(seconds: seconds)
    }

    /// The first token of the chain that a new token continues. It asks about tokens that are not recorded, and records them, too.
    ///
    /// - Returns: Nil for a purchase that continues none.
    /// - Throws: `PlayDeveloperError.answerInvalid` if the links form a circle. Nothing is then recorded.
    private func originalToken(
        continuedBy statement: GooglePlayStatement, on occasion: Occasion,
        within patience: PlayDeveloperClient.Patience
    ) async throws -> String? {
        var (chain, original, isKnown): ([PurchaseQuestions.Asked], String?, Bool) = ([], nil, false)
        var seen: Set = [ByteKey(statement.purchaseToken)]
        var last = statement
        while let earlier = last.linkedPurchaseToken ?? last.expiredPurchaseToken {
            guard seen.insert(ByteKey(earlier)).inserted else { throw circle() }
            original = earlier
            if let known = try await purchases.purchase(of: earlier) {
                (original, isKnown) = (known.originalToken, true)
                break
            }
            guard chain.count < Self.maximumChain else {
                log(.endless)
                break
            }
            do {
                chain.append(try await question(about: earlier, on: occasion, within: patience))
            } catch let error as PlayDeveloperError where error.isOfToken {
                // Google Play forgets a subscription 60 days after its end.
                break
            }
            last = chain.last?.statement ?? last
        }
        for asked in chain.reversed() {
            let recorded = try await record(asked, continuing: original, seesOrders: occasion.mayBeRefunded)
            original = recorded.originalToken
            // Its owner has paid for each purchase of the chain, also for one that another has replaced since.
            if isKnown { _ = try await purchases.apply(asked.statement, recordedAs: recorded) }
        }
        return original
    }

    /// Asks about a token, and applies the answer to the owner of the purchase, or to the user of its account identifier. A purchase
    /// of nobody is parked until a user presents its token.
    ///
    /// - Parameters:
    ///   - isVoided: True if the list of voided purchases is read next, which takes the goods with their money.
    ///   - notification: The notification to store with the products, by the origin of the purchase; nil for none.
    /// - Returns: The outcomes of the products; none if nothing is owned.
    /// - Throws: `PlayDeveloperError`; nothing is then changed, except that an answer is counted by which Google Play has no such
    ///   purchase. `StorageFault`.
    package func refresh(
        _ token: String, isVoided: Bool = false, notifiedBy notification: ((Origin) -> NotificationRecord)? = nil,
        within patience: PlayDeveloperClient.Patience = .schedule
    ) async throws -> [NotificationOutcome] {
        if notification != nil, let seconds = notified.take(token) {
            throw PlayDeveloperError.limited(seconds: seconds)
        }
        let occasion = isVoided ? Occasion.voided : .change
        let answer = try await answerCounting(token, on: occasion, within: patience)
        let outcomes = try await purchases.apply(
            answer.statement, recordedAs: answer.purchase, seesOrders: occasion.mayBeRefunded,
            notifiedBy: notification?(answer.statement.origin))
        await refreshReplaced(by: answer.statement, on: .link, within: patience)
        guard occasion.mayBeRefunded else { return outcomes }
        return try await outcomes + refreshEarlierOrders(of: answer.purchase, within: patience)
    }

    /// Asks for the money of the periods before the last ones. Orders that Google Play does not answer for now are asked for next time.
    private func refreshEarlierOrders(
        of purchase: GooglePurchase, within patience: PlayDeveloperClient.Patience
    ) async throws -> [NotificationOutcome] {
        try await refresh(try await purchases.earlierOrders(of: purchase), of: purchase, within: patience)
    }

    private func refresh(
        _ identifiers: [String], of purchase: GooglePurchase, within patience: PlayDeveloperClient.Patience
    ) async throws -> [NotificationOutcome] {
        var outcomes: [NotificationOutcome] = []
        for start in stride(from: 0, to: identifiers.count, by: PlayDeveloperClient.maximumOrders) {
            let part = Array(identifiers[start..<min(start + PlayDeveloperClient.maximumOrders, identifiers.count)])
            for order in await orders(part, within: patience) {
                outcomes += try await purchases.apply(order, of: purchase)
            }
        }
        return outcomes
    }

    /// Asks for the money of a paid one-time purchase whose token Google Play does not know any more. Its orders stay.
    ///
    /// - Returns: Nil for another purchase.
    func refreshOrders(ofForgotten purchase: GooglePurchase) async throws -> [NotificationOutcome]? {
        guard let left = try await purchases.ordersLeft(of: purchase) else { return nil }
        return try await refresh(left, of: purchase, within: .schedule)
    }

    /// The orders that Google Play shows. One that it does not have would hide the others, so each of the last ones is then asked for alone.
    private func orders(
        _ identifiers: [String], within patience: PlayDeveloperClient.Patience
    ) async -> [GooglePlayOrder] {
        do {
            if identifiers.count > 1, let orders = try await client.orders(identifiers, within: patience) {
                return orders
            }
        } catch { return [] }
        var orders: [GooglePlayOrder] = []
        for identifier in identifiers.prefix(Self.maximumOrdersAlone) {
            guard let order = try? await client.order(identifier, within: patience) else { continue }
            orders.append(order)
        }
        return orders
    }

    /// The answer about a token. One by which Google Play has no such purchase is counted: many of them give a purchase up.
    private func answerCounting(
        _ token: String, on occasion: Occasion, within patience: PlayDeveloperClient.Patience
    ) async throws -> Answer {
        do {
            return try await answer(about: token, on: occasion, within: patience)
        } catch let error as PlayDeveloperError where error.isOfToken {
            if let known = try await purchases.purchase(of: token), try await purchases.refuse(known) {
                givenUp.withLock { $0 += 1 }
                log(givenUp: known, error)
            }
            throw error
        }
    }

    /// The number of purchases that were given up since the last call, whether a notification, a person or the schedule has asked.
    func takeGivenUp() -> Int {
        givenUp.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    /// The token stays out of the log: it is a secret of the customer.
    private func log(givenUp purchase: GooglePurchase, _ error: PlayDeveloperError) {
        logger.log(
            level: lines.level(purchase.isFinal ? .notice : .error, of: error.code, in: logger),
            "a purchase is given up: Google Play has said for days that it has none of this token",
            metadata: [
                "code": "\(error.code)", "app": "\(purchase.key.app)", "state": "\(purchase.state)",
                "product": "\(purchase.purchase?.productIdentifier ?? "")",
                "since": "\(purchase.refusals?.since.rfc3339 ?? "")",
            ])
    }

    /// Ends the purchases that another one has replaced, once that one is decided. If Google Play fails, the service asks again by
    /// itself.
    func refreshReplaced(
        by statement: GooglePlayStatement, on occasion: Occasion, within patience: PlayDeveloperClient.Patience
    ) async {
        // If it fails, the question of the next day applies it.
        try? await applyToOwner(statement)
        var (last, seen): (GooglePlayStatement, Set) = (statement, [ByteKey(statement.purchaseToken)])
        while seen.count <= Self.maximumChain, let token = last.linkedPurchaseToken,
            seen.insert(ByteKey(token)).inserted, let replaced = try? await purchases.purchase(of: token),
            !replaced.isFinal, let answer = try? await answerCounting(token, on: occasion, within: patience),
            (try? await purchases.apply(answer.statement, recordedAs: answer.purchase)) != nil
        {
            last = answer.statement
        }
    }

    /// Gives a replacement that somebody has presented in vain to the owner of the replaced purchase, who pays for it now.
    private func applyToOwner(_ statement: GooglePlayStatement) async throws {
        guard statement.linkedPurchaseToken != nil,
            let recorded = try await purchases.purchase(of: statement.purchaseToken),
            try await purchases.redeemedPurchases(of: recorded) == nil
        else { return }
        _ = try await purchases.apply(statement, recordedAs: recorded)
    }
}

/// Chains of linked tokens that Google Play does not make.
extension GooglePlayApp {
    fileprivate enum ChainFault: String {
        case circle = "linked purchase tokens form a circle, so nothing of them is recorded"
        case endless = "more earlier purchase tokens than the service asks about; the chain begins at the last of them"
    }

    /// Logs a fault once in the life of the process. Whoever presents such a token could fill the log.
    private func log(_ fault: ChainFault) {
        guard hasLogged.withLock({ $0.insert(fault).inserted }) else { return }
        logger.error("\(fault.rawValue)", metadata: ["package": "\(client.packageName)"])
    }

    private func circle() -> PlayDeveloperError {
        log(.circle)
        return .answerInvalid(reason: "Its linked purchase tokens form a circle.")
    }
}

extension GooglePlayApp.Occasion {
    fileprivate var needsNewAnswer: Bool {
        switch self {
        case .change, .voided: true
        case .link, .presentation: false
        }
    }

    /// True if the order may state money that was paid back.
    fileprivate var mayBeRefunded: Bool { if case .change = self { true } else { false } }

    /// The occasion of questions about the tokens that an answer names.
    fileprivate var ofLinks: Self { needsNewAnswer ? .link : self }
}

/// The tokens that callers present.
extension GooglePlayApp {
    /// The statement about a token that a user presents, by Google Play or, if it does not know the purchase any more, by the ledger.
    ///
    /// - Parameter network: The client network of a stranger; nil for a back end.
    /// - Throws: `RedemptionError` for a purchase that is not paid; `PlayDeveloperError` if Google Play cannot be asked, or does not
    ///   know the token. The purchase is then neither granted nor refused, unless the error is of the token.
    func statement(
        about token: String, from network: ClientNetwork?
    ) async throws -> RedemptionDoor.Statement {
        let occasion = Occasion.presentation(from: network)
        let answer: Answer
        do {
            answer = try await self.answer(about: token, on: occasion, within: .person)
        } catch let error as PlayDeveloperError where error.isOfToken {
            // Google Play forgets a consumed purchase when the product is bought again.
            guard let redeemed = try await purchases.redeemedPurchases(ofToken: token) else { throw error }
            try checkOrigin(redeemed.origin)
            return .init(redeemed, purchaseToken: token)
        } catch let error as PlayDeveloperError {
            // A customer who shares the address of somebody who presents many tokens still has what the ledger knows.
            guard case .limited = error, let current = try await currentPurchases(of: token) else { throw error }
            try checkOrigin(current.origin)
            return .init(current, purchaseToken: token)
        }
        let statement = answer.statement
        try checkOrigin(statement.origin)
        let stated =
            statement.state == .unknown
            ? nil : try await purchases.purchases(of: statement, recordedAs: answer.purchase)
        if stated != nil {
            try checkPurchases(of: statement)
            try await purchases.applyEndings(of: statement, recordedAs: answer.purchase)
        }
        let redeemed = stated == nil ? try await purchases.redeemedPurchases(of: answer.purchase) : nil
        guard let claims = stated ?? redeemed else { throw RedemptionError.purchaseNotOwned }
        let refusal = try await purchases.refusal(of: statement, recordedAs: answer.purchase)
        return .init(claims, googlePlay: statement, purchaseToken: token, refusal: refusal) { [self] in
            await refreshReplaced(by: statement, on: occasion, within: .person)
        }
    }

    /// The purchases of a recorded token that users have redeemed, if none of them needs a new statement.
    ///
    /// - Returns: Nil if nobody has redeemed any, or if a period has ended, which may have been renewed.
    private func currentPurchases(of token: String) async throws -> EntitlementService.VerifiedPurchases? {
        let now = purchases.entitlements.clock.now()
        guard let known = try await purchases.purchase(of: token), !known.isFinal,
            let redeemed = try await purchases.redeemedPurchases(of: known),
            redeemed.proven.allSatisfy({ $0.expiresDate.map { $0 > now } ?? true })
        else { return nil }
        return redeemed
    }

    /// The statement about a token that a back end presents, of which nothing is redeemed.
    ///
    /// - Throws: As the statement about a token that a user presents, for one that Google Play has forgotten, too.
    func statement(about token: String) async throws -> GooglePlayStatement {
        let answer = try await answer(about: token, on: .presentation(from: nil), within: .person)
        let statement = answer.statement
        try checkOrigin(statement.origin)
        try checkPurchases(of: statement)
        if let refusal = try await purchases.refusal(of: statement, recordedAs: answer.purchase) {
            throw RedemptionError.refused(refusal)
        }
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
