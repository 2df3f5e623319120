import Catalog
import Ledger
import Proofs

/// The use cases of purchase tokens of Google Play. They record what Google Play has stated, and decide its claims as those of any
/// proof.
///
/// The record of a token precedes the decision about its purchases. So a purchase that is granted is acknowledged, whatever happens
/// in between.
package struct GooglePurchaseService: Sendable {
    package let entitlements: EntitlementService
    /// The app that sells the purchases.
    package let app: App
    /// The name of the app on Google Play. An app of the catalog may have several there.
    let packageName: String
    /// The origins of the purchases that the Google Play at the client's address knows.
    package let origins: Set<Origin>

    private var ledger: Ledger { entitlements.ledger }

    /// The ledger's names of tokens, by which transactions are identified.
    package var tokenNames: PurchaseTokenNames { get async throws { try await ledger.tokenNames } }

    package init(entitlements: EntitlementService, app: App, packageName: String, origins: Set<Origin>) {
        self.entitlements = entitlements
        self.app = app
        self.packageName = packageName
        self.origins = origins
    }

    /// The recorded purchase of a token; nil if Google Play was never asked about it.
    package func purchase(of token: String) async throws -> GooglePurchase? {
        try await ledger.read { try purchase(of: token, $0) }
    }

    private func purchase(of token: String, _ transaction: LedgerTransaction) throws -> GooglePurchase? {
        try transaction.googlePurchases.purchases(of: [token]).first {
            $0.key.app.hasSameBytes(as: app.bundleIdentifier) && $0.packageName.hasSameBytes(as: packageName)
                && origins.contains($0.key.origin)
        }
    }

    /// Takes the number of a question to Google Play. Its answer supersedes those to earlier questions.
    ///
    /// - Parameter known: The recorded purchase; nil for a new token. A stranger can invent tokens, so nothing is written for one.
    /// - Returns: Nil for a new token.
    package func numberOfQuestion(about known: GooglePurchase?) async throws -> Int64? {
        guard let known else { return nil }
        return try await ledger.write { try $0.statementNumbers(ofApp: app, packageName).take(of: known.originalToken) }
    }

    /// Records a statement.
    ///
    /// - Parameters:
    ///   - original: The first token of the chain that a new token continues; nil for none.
    ///   - number: The number of the question; nil for one about a token that was new then.
    /// - Returns: The purchase, with the original that it was recorded with first.
    /// - Throws: `LinkedTokensCircle` if the purchase would replace one that has replaced it. Nothing is then recorded.
    package func record(
        _ statement: GooglePlayStatement, continuing original: String?, number: Int64?
    ) async throws -> GooglePurchase {
        let now = entitlements.clock.now()
        return try await ledger.write { transaction in
            try transaction.register(app: app.bundleIdentifier)
            let known = try self.purchase(of: statement.purchaseToken, transaction)
            if let replaced = statement.linkedPurchaseToken, try has(known, followed: replaced, transaction) {
                throw LinkedTokensCircle()
            }
            // All callers who awaited a first question have its answer. One of them records it.
            if number == nil, let known, known.askedAt == statement.askedAt, known.state == statement.state.rawValue {
                return known
            }
            let originalToken = known?.originalToken ?? original ?? statement.purchaseToken
            // Of two first questions at the same time, the answer stored first has the number, and nobody knows which was asked later.
            let number =
                try number
                ?? (known == nil ? transaction.statementNumbers(ofApp: app, packageName).take(of: originalToken) : 0)
            let purchase = GooglePurchase(
                statement, of: app, known, originalToken: originalToken, number: number, at: now)
            let records = try transaction.googlePurchases
            try records.write(purchase, isAcknowledged: statement.isAcknowledged)
            // The clock may have gone back since the question, too.
            if number == 0 || statement.askedAt > now { try records.ask(about: purchase.key, at: now) }
            // A later record of voided units states how many they are, and not how many are left.
            if let bought = statement.purchases.first?.purchase, statement.purchases.count == 1, bought.quantity > 1 {
                try transaction.voidedUnits(ofApp: app, packageName)?
                    .write(bought: bought.quantity, ofToken: statement.purchaseToken)
            }
            // A replacement that nobody has paid leaves the replaced purchase as it is, and may never be paid.
            if let replaced = statement.linkedPurchaseToken, ![.pending, .paymentCanceled].contains(statement.state) {
                let key = TransactionKey(app: app.bundleIdentifier, origin: statement.origin, identifier: replaced)
                try records.write(successor: statement.purchaseToken, of: key, at: now)
            }
            return purchase
        }
    }

    /// The largest number of successors among which a circle is looked for.
    private static let maximumSuccessors = 100

    /// True if purchases that have replaced one are replaced by itself, directly or by others.
    private func has(
        _ known: GooglePurchase?, followed token: String, _ transaction: LedgerTransaction
    ) throws -> Bool {
        guard let known else { return false }
        if known.purchaseToken.hasSameBytes(as: token) { return true }
        var next = known.successorToken
        for _ in 0..<Self.maximumSuccessors {
            guard let successor = next else { return false }
            if successor.hasSameBytes(as: token) { return true }
            next = try purchase(of: successor, transaction)?.successorToken
        }
        return false
    }

    /// The purchases of a recorded statement, before a user redeems them.
    ///
    /// - Returns: Nil if the statement says nothing: another purchase has replaced this one, and has its transactions.
    package func purchases(
        of statement: GooglePlayStatement, recordedAs purchase: GooglePurchase
    ) async throws -> EntitlementService.VerifiedPurchases? {
        let voided = try await ledger.read {
            try $0.voidedPurchases(ofApp: app, packageName)?.purchases(ofToken: statement.purchaseToken) ?? []
        }
        let (units, names) = (try await voidedUnits(of: statement), try await tokenNames)
        // A transaction that is redeemed keeps its units. Its credit loses those that are voided later.
        var stated = statement.purchases.map {
            units.applied(
                to: voided.applied(to: $0, isSubscription: statement.isSubscription),
                of: names.name(of: statement.purchaseToken)
            ).remaining
        }
        // The successor's renewal is that of the chain, whichever of the two was asked about last. While the successor is unknown,
        // nobody knows what comes next.
        if purchase.successorToken != nil || purchase.awaitsSuccessor(statement) {
            for index in stated.indices { stated[index].renewal = nil }
        }
        // An item that another one of the answer has replaced says nothing of what comes next, and nothing new of its own period.
        let replaced = stated.indices.filter { statement.hasReplaced(stated[$0].purchase) }
        for index in replaced { stated[index].renewal = nil }
        if !replaced.isEmpty {
            let known = Set(
                try await redeemedTransactions(of: purchase) { _ in true }.map { ByteKey($0.transactionIdentifier) })
            stated.removeAll {
                known.contains(ByteKey($0.purchase.transactionIdentifier)) && statement.hasReplaced($0.purchase)
            }
        }
        if let token = purchase.successorToken, let successor = try await self.purchase(of: token)?.purchase {
            // In a deferred replacement, the new purchase has the last period of the old one.
            stated.removeAll {
                $0.purchase.transactionIdentifier.hasSameBytes(as: successor.transactionIdentifier)
            }
            if stated.isEmpty { return nil }
        }
        return entitlements.purchases(
            stated, of: statement, app: app.bundleIdentifier, original: names.name(of: purchase.originalToken),
            number: purchase.statementNumber)
    }

    /// Applies a recorded statement like one of the App Store: each purchase goes to its owner, or to the user of its account
    /// identifier. A purchase of nobody is parked until a user presents its token.
    ///
    /// - Parameter notification: The notification to store with the purchases; nil for none.
    /// - Returns: The outcomes of the purchases, in their order; none if nothing is owned. A notification about nothing has one, too.
    package func apply(
        _ statement: GooglePlayStatement, recordedAs purchase: GooglePurchase,
        notifiedBy notification: NotificationRecord? = nil
    ) async throws -> [NotificationOutcome] {
        guard let purchases = try await purchases(of: statement, recordedAs: purchase) else {
            guard let notification else { return [] }
            return [try await entitlements.store(notification)]
        }
        return try await entitlements.outcomes(ofStated: purchases, notifiedBy: notification)
    }

    /// The purchases of a token that users have redeemed, for a token that Google Play does not know any more. It forgets a consumed
    /// purchase when the product is bought again.
    ///
    /// - Returns: Nil if nobody has redeemed any.
    package func redeemedPurchases(ofToken token: String) async throws -> EntitlementService.VerifiedPurchases? {
        if let known = try await purchase(of: token) { return try await redeemedPurchases(of: known) }
        // A signed purchase is redeemed without a question if the service has no service account.
        let name = try await tokenNames.name(of: token)
        for origin in origins.sorted(by: { $0.rawValue < $1.rawValue }) {
            let key = TransactionKey(app: app.bundleIdentifier, origin: origin, identifier: name)
            let transactions = try await ledger.read { try $0.redeemedTransactions(ofPurchase: key) }
            if !transactions.isEmpty { return entitlements.purchases(repeating: transactions, from: origin) }
        }
        return nil
    }

    /// The purchases of a recorded token that users have redeemed; nil if nobody has redeemed any.
    package func redeemedPurchases(
        of purchase: GooglePurchase
    ) async throws -> EntitlementService.VerifiedPurchases? {
        let transactions = try await redeemedTransactions(of: purchase) { transaction in
            // A period of a subscription is a transaction, and the token stands for the last one.
            !purchase.isSubscription
                || purchase.purchase?.transactionIdentifier.hasSameBytes(as: transaction.transactionIdentifier) ?? false
        }
        return transactions.isEmpty
            ? nil : entitlements.purchases(repeating: transactions, from: purchase.key.origin)
    }

    /// Takes back the redeemed transactions of an order that Google Play lists as voided (`purchases.voidedpurchases`). No later
    /// statement about the order gives them back. If only some units are voided, the credit of the purchase loses them, and the rest stays.
    ///
    /// The token of a signed purchase that was redeemed without asking Google Play is not recorded. Its name is the transaction itself.
    ///
    /// - Returns: The outcomes of the order's transactions; none if nobody has redeemed any.
    package func apply(_ voided: VoidedGooglePlayPurchase) async throws -> [NotificationOutcome] {
        if let units = voided.quantity, let outcomes = try await apply(voided, units) { return outcomes }
        try await ledger.writeInBackground { transaction in
            try transaction.register(app: app.bundleIdentifier)
            guard try transaction.voidedPurchases(ofApp: app, packageName)?.write(voided) == true,
                let known = try purchase(of: voided.purchaseToken, transaction), !known.isFinal
            else { return }
            // An answer of before may be on its way to a user who has not redeemed it yet. The next one is taken back.
            try transaction.googlePurchases.ask(about: known.key, at: entitlements.clock.now())
        }
        let (recorded, names) = (try await purchase(of: voided.purchaseToken), try await tokenNames)
        let originals =
            recorded.map { [$0.originalKey(named: names)] }
            ?? origins.map {
                TransactionKey(
                    app: app.bundleIdentifier, origin: $0, identifier: names.name(of: voided.purchaseToken))
            }
        var outcomes: [NotificationOutcome] = []
        for original in originals.sorted() {
            let transactions = try await ledger.read { try $0.redeemedTransactions(ofPurchase: original) }
                .filter { recorded?.isSubscription != true || voided.isOrder(of: $0) }
            outcomes += try await entitlements.outcomes(
                ofStated: entitlements.purchases(
                    repeating: transactions, from: original.origin,
                    revoked: (voided.voidedAt, voided.revocationReason.rawValue, entitlements.clock.now())))
        }
        return outcomes
    }

    private func voidedUnits(of statement: GooglePlayStatement) async throws -> VoidedUnits {
        guard !statement.isSubscription else { return VoidedUnits() }
        return try await ledger.read {
            try $0.voidedUnits(ofApp: app, packageName)?.units(ofToken: statement.purchaseToken) ?? VoidedUnits()
        }
    }

    /// Takes some units of a one-time purchase back, once for each record.
    ///
    /// - Returns: Nil if no unit is left. The purchase is then voided in full.
    private func apply(
        _ voided: VoidedGooglePlayPurchase, _ units: Int
    ) async throws -> [NotificationOutcome]? {
        let (now, token) = (entitlements.clock.now(), voided.purchaseToken)
        let name = try await tokenNames.name(of: token)
        return try await ledger.writeInBackground { transaction in
            try transaction.register(app: app.bundleIdentifier)
            guard let records = try transaction.voidedUnits(ofApp: app, packageName) else { return [] }
            try records.write(voided, units)
            let recorded = try purchase(of: token, transaction)
            guard recorded?.isSubscription != true else { return [] }
            var outcomes: [NotificationOutcome] = []
            for origin in recorded.map({ [$0.key.origin] }) ?? origins.sorted(by: { $0.rawValue < $1.rawValue }) {
                let key = TransactionKey(app: app.bundleIdentifier, origin: origin, identifier: name)
                switch try transaction.takeBackUnits(of: key, token, records, at: now) {
                case .none: break
                case .applied(let outcome): outcomes.append(outcome)
                case .all: return nil
                }
            }
            return outcomes
        }
    }

    private func redeemedTransactions(
        of purchase: GooglePurchase, _ isIncluded: @Sendable (RedeemedTransaction) -> Bool
    ) async throws -> [RedeemedTransaction] {
        let key = purchase.originalKey(named: try await tokenNames)
        return try await ledger.read { try $0.redeemedTransactions(ofPurchase: key) }.filter(isIncluded)
    }

    /// The known orders of a recorded purchase, with the dates of their periods, which do not change. A one-time purchase has no end.
    package func periods(of purchase: GooglePurchase) async throws -> [String: GooglePlayPeriod] {
        var periods: [String: GooglePlayPeriod] = [:]
        for transaction in try await redeemedTransactions(of: purchase, { $0.facts[.orderId] != nil }) {
            guard let order = transaction.facts.text(.orderId) else { continue }
            periods[order] = GooglePlayPeriod(
                purchaseDate: transaction.purchaseDate, expiresDate: transaction.facts.date(.expiresDate))
        }
        return periods
    }

    /// The purchases about which Google Play is to be asked again, the longest overdue first: subscriptions that have fallen silent,
    /// replaced purchases and pending ones.
    package func purchasesToAsk(limit: Int) async throws -> [GooglePurchase] {
        let now = entitlements.clock.now()
        return try await ledger.read { transaction in
            guard let number = try transaction.number(ofApp: app.bundleIdentifier)?.number else { return [] }
            return try transaction.googlePurchases.purchases(
                due: .question, at: now, in: number, of: packageName, origins, limit: limit)
        }
    }

    /// The pause after a question about one purchase that has failed, in seconds.
    private static let askPause: Int64 = 600

    /// Puts the next question about a purchase off, so that it does not stand before the others.
    package func askLater(_ purchase: GooglePurchase) async throws {
        let next = entitlements.clock.now().adding(seconds: Self.askPause)
        try await ledger.writeInBackground { try $0.googlePurchases.ask(about: purchase.key, at: next) }
    }

    /// Notes that Google Play does not know a token any more, and is not asked again. What is due stays so until its deadline: a purchase
    /// that is granted is paid, and one wrong answer must not end it.
    ///
    /// - Returns: True if nothing is due any more.
    @discardableResult
    package func close(_ purchase: GooglePurchase) async throws -> Bool {
        let isOver = (purchase.acknowledgement?.deadline).map { $0 <= entitlements.clock.now() } ?? true
        try await ledger.writeInBackground { transaction in
            let records = try transaction.googlePurchases
            try records.ask(about: purchase.key, at: nil)
            if isOver { try records.settle(purchase.key, acknowledgedAt: nil) }
        }
        return isOver
    }
}

/// The error of purchases of which each has replaced the other, directly or by others. Google Play makes no such links.
package struct LinkedTokensCircle: Error {
    package init() {}
}

/// The use cases of acknowledgements.
extension GooglePurchaseService {
    /// The purchases to acknowledge or to consume now, the earliest deadline first. A user has redeemed each of them, and the grant is
    /// durable. The service looks later at the others.
    package func purchasesToAcknowledge(limit: Int) async throws -> (due: [GooglePurchase], mayBeMore: Bool) {
        let now = entitlements.clock.now()
        let (waiting, redeemed) = try await ledger.read { transaction -> ([GooglePurchase], Set<TransactionKey>) in
            guard let number = try transaction.number(ofApp: app.bundleIdentifier)?.number else { return ([], []) }
            let records = try transaction.googlePurchases
            let waiting = try records.purchases(
                due: .acknowledgement, at: now, in: number, of: packageName, origins, limit: limit)
            return (waiting, try records.redeemed(among: waiting.compactMap(\.transactionKey)))
        }
        let due = waiting.filter { $0.transactionKey.map(redeemed.contains) ?? false }
        let others = waiting.filter { !($0.transactionKey.map(redeemed.contains) ?? false) }
        if !others.isEmpty {
            try await ledger.writeInBackground { transaction in
                let records = try transaction.googlePurchases
                for purchase in others {
                    guard let acknowledgement = purchase.acknowledgement else { continue }
                    let next = acknowledgement.awaitingRedemption(since: purchase.askedAt, at: now)
                    let isUnchanged = try records.replace(acknowledgement, with: next, of: purchase.key)
                    // Google Play has refunded it. If not, the next statement says so.
                    if isUnchanged, acknowledgement.deadline < now {
                        try records.settle(purchase.key, acknowledgedAt: nil)
                    }
                }
            }
        }
        return (due, waiting.count == limit)
    }

    /// Begins an attempt, after whose failure the next one follows a pause. A service that ends before the result tries again, too.
    ///
    /// - Returns: False if another service has begun one, or if a statement has changed the purchase meanwhile.
    package func beginAcknowledgement(of purchase: GooglePurchase) async throws -> Bool {
        guard let acknowledgement = purchase.acknowledgement else { return false }
        let next = acknowledgement.attempted(at: entitlements.clock.now())
        return try await ledger.writeInBackground {
            try $0.googlePurchases.replace(acknowledgement, with: next, of: purchase.key)
        }
    }

    /// Records that Google Play has the acknowledgement.
    package func endAcknowledgement(of purchase: GooglePurchase) async throws {
        let now = entitlements.clock.now()
        try await ledger.writeInBackground { try $0.googlePurchases.settle(purchase.key, acknowledgedAt: now) }
    }

    /// True if the customer can buy the purchase again only after it is consumed. Another one is acknowledged.
    package func isConsumable(_ purchase: GooglePurchase) -> Bool {
        !purchase.isSubscription && purchase.purchase?.isConsumable ?? false
    }
}

extension VoidedGooglePlayPurchase {
    /// True if a period of a subscription has this order, which is its transaction, or the beginning of those of its products.
    fileprivate func isOrder(of transaction: RedeemedTransaction) -> Bool {
        guard let orderId else { return false }
        let identifier = transaction.transactionIdentifier
        return identifier.hasSameBytes(as: orderId) || identifier.hasPrefix(orderId + ":")
    }
}

extension LedgerTransaction {
    fileprivate var googlePurchases: GooglePurchaseRecords {
        get throws { GooglePurchaseRecords(database: database, apps: try apps) }
    }

    fileprivate func statementNumbers(ofApp app: App, _ package: String) throws -> StatementNumbers {
        guard let number = try apps[app.bundleIdentifier] else { throw ColumnMismatch.column("app") }
        return StatementNumbers(database: database, app: number, package: package)
    }

    /// - Returns: Nil if the ledger does not have the app.
    fileprivate func voidedPurchases(ofApp app: App, _ package: String) throws -> VoidedPurchaseRecords? {
        try number(ofApp: app.bundleIdentifier)?.number.map {
            VoidedPurchaseRecords(database: database, app: $0, package: package)
        }
    }
}
