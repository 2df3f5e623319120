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
    ///   - seesOrders: True if the orders of the statement were asked for, also if they are known.
    /// - Returns: The purchase, with the original that it was recorded with first.
    /// - Throws: `LinkedTokensCircle` if the purchase would replace one that has replaced it. Nothing is then recorded.
    package func record(
        _ statement: GooglePlayStatement, continuing original: String?, number: Int64?, seesOrders: Bool = true
    ) async throws -> GooglePurchase {
        let (now, names) = (entitlements.clock.now(), try await tokenNames)
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
            let lines = try transaction.googleLines(ofApp: app, packageName)
            let before = try lines.lines(ofChain: originalToken)
            let placed = statement.placed(
                in: before, of: originalToken, number: number, isNewToken: known?.purchase == nil)
            try lines.write(placed.lines, after: before, ofChain: originalToken, named: names.name(of: originalToken))
            let purchase = GooglePurchase(
                placed, of: app, known, originalToken: originalToken, number: number, seesOrders: seesOrders, at: now)
            let records = try transaction.googlePurchases
            if let known, !statement.isAcknowledged, statement.state.isFinal {
                try transaction.note(missed: known, at: now)
            }
            try records.write(purchase, isAcknowledged: statement.isAcknowledged)
            // The clock may have gone back since the question, too.
            if number == 0 || statement.askedAt > now { try records.ask(about: purchase.key, at: now) }
            // A later record of voided units states how many they are, and not how many are left.
            if let bought = placed.purchases.first?.purchase, placed.purchases.count == 1, bought.quantity > 1 {
                try transaction.voidedUnits(ofApp: app, packageName)
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
        try await purchases(
            ofPlaced: try await placed(statement, recordedAs: purchase), recordedAs: purchase, isPresented: true)
    }

    /// The refusal of a purchase that an earlier back end has delivered, and that no user has redeemed; nil for another.
    ///
    /// Consumption alone refuses nothing: an app may consume too early, and lose the answer. Each token is granted once.
    package func refusal(
        of statement: GooglePlayStatement, recordedAs purchase: GooglePurchase
    ) async throws -> ProofRefusal? {
        guard let moment = entitlements.consumedRefusedBefore, statement.isDelivered(before: moment),
            try await redeemedTransactions(of: purchase, { _ in true }).isEmpty
        else { return nil }
        return ProofRefusal(.purchaseConsumed)
    }

    /// - Parameter isPresented: True if a user presents the token, and gets an answer about each purchase of it.
    private func purchases(
        ofPlaced statement: GooglePlayStatement, recordedAs purchase: GooglePurchase, seesOrders: Bool = false,
        isPresented: Bool = false
    ) async throws -> EntitlementService.VerifiedPurchases? {
        let voided = try await ledger.read {
            try $0.voidedPurchases(ofApp: app, packageName).purchases(ofToken: statement.purchaseToken)
        }
        let (units, names) = (try await voidedUnits(of: statement), try await tokenNames)
        let name = names.name(of: purchase.originalToken)
        var stated = statement.purchases.map {
            units.applied(
                to: voided.applied(to: $0, isSubscription: statement.isSubscription),
                of: names.name(of: statement.purchaseToken))
        }
        if stated.contains(where: { $0.refundedQuantity > 0 }) {
            let known = try await redeemedTransactions(of: purchase) { _ in true }
            for index in stated.indices {
                stated[index].payBackUnits(of: known, voidedAt: units.voidedAt, isAsked: seesOrders)
            }
        }
        // A transaction that is redeemed keeps its units. Its credit loses those that are voided later.
        stated = stated.map(\.remaining)
        // The successor's renewal is that of the chain, whichever of the two was asked about last. While the successor is unknown,
        // nobody knows what comes next.
        if purchase.successorToken != nil || purchase.awaitsSuccessor(statement) {
            for index in stated.indices { stated[index].renewal = nil }
        }
        // An item whose place another one of the answer has taken says nothing new of a period that the ledger has.
        if statement.isSubscription, !statement.isReplaced, purchase.successorToken == nil,
            statement.purchases.contains(where: { $0.renewal == nil })
        {
            let known = Set(
                try await redeemedTransactions(of: purchase) { _ in true }.map { ByteKey($0.transactionIdentifier) })
            let replaced = Set(
                statement.purchases.filter { $0.renewal == nil }.map { ByteKey($0.purchase.transactionIdentifier) })
            let news = stated.filter {
                !known.intersection(replaced).contains(ByteKey($0.purchase.transactionIdentifier))
            }
            // A token that another one continues has nothing else to answer: its owner, and whether the app may finish.
            if !isPresented || !news.isEmpty { stated = news }
        }
        if let token = purchase.successorToken, let successor = try await self.purchase(of: token)?.purchase {
            // In a deferred replacement, the new purchase has the last period of the old one.
            stated.removeAll {
                $0.purchase.transactionIdentifier.hasSameBytes(as: successor.transactionIdentifier)
            }
            if stated.isEmpty { return nil }
        }
        // The owner of the main line is decided before the other lines, which go to nobody else.
        let main = stated.filter { $0.purchase.originalTransactionIdentifier.hasSameBytes(as: name) }
        stated = main + stated.filter { !$0.purchase.originalTransactionIdentifier.hasSameBytes(as: name) }
        return entitlements.purchases(
            stated.map { StoredPurchase($0.purchase, renewal: $0.renewal, chain: $0.chain, keepsEnd: $0.keepsEnd) },
            of: app.bundleIdentifier,
            from: statement.origin, statedAt: statement.askedAt, number: purchase.statementNumber,
            digest: statement.digest)
    }

    /// Applies a recorded statement like one of the App Store: each purchase goes to its owner, or to the user of its account
    /// identifier. A purchase of nobody is parked until a user presents its token.
    ///
    /// - Parameters:
    ///   - seesOrders: True if the orders of the statement were asked for, also if they are known.
    ///   - notification: The notification to store with the purchases; nil for none.
    /// - Returns: The outcomes of the purchases, in their order; none if nothing is owned. A notification about nothing new has one, too.
    package func apply(
        _ statement: GooglePlayStatement, recordedAs purchase: GooglePurchase, seesOrders: Bool = true,
        notifiedBy notification: NotificationRecord? = nil
    ) async throws -> [NotificationOutcome] {
        let placed = try await placed(statement, recordedAs: purchase)
        var notification = notification
        if let told = notification, let last = purchase.purchase {
            let original = try await tokenNames.name(of: purchase.originalToken)
            notification = told.about(.transaction(last.transactionIdentifier, original: original))
        }
        guard try await refusal(of: placed, recordedAs: purchase) == nil,
            let purchases = try await purchases(ofPlaced: placed, recordedAs: purchase, seesOrders: seesOrders)
        else {
            guard let notification else { return [] }
            return [try await entitlements.store(notification)]
        }
        let ended = placed.endedLines.isEmpty ? nil : try await endings(of: placed, recordedAs: purchase)
        return try await entitlements.outcomes(
            ofStated: purchases.after(ended), notifiedBy: notification)
    }

    /// The purchases of a token that users have redeemed, for a token that Google Play does not know any more. It forgets a consumed
    /// purchase when the product is bought again.
    ///
    /// - Returns: Nil if nobody has redeemed any.
    package func redeemedPurchases(ofToken token: String) async throws -> EntitlementService.VerifiedPurchases? {
        if let known = try await purchase(of: token) { return try await redeemedPurchases(of: known) }
        // A signed purchase is redeemed without a question if the service has no service account.
        let originals = try await originals(named: try await tokenNames.name(of: token), from: origins)
        for (origin, keys) in Dictionary(grouping: originals, by: \.origin).sorted(by: {
            $0.key.rawValue < $1.key.rawValue
        }) {
            let transactions = try await ledger.read { transaction in
                try keys.flatMap { try transaction.redeemedTransactions(ofPurchase: $0) }
            }
            if !transactions.isEmpty { return try entitlements.purchases(repeating: transactions, from: origin) }
        }
        return nil
    }

    /// The purchases of a recorded token that users have redeemed; nil if nobody has redeemed any.
    package func redeemedPurchases(
        of purchase: GooglePurchase
    ) async throws -> EntitlementService.VerifiedPurchases? {
        let held = try await lines(of: purchase).products.filter {
            $0.purchaseToken.hasSameBytes(as: purchase.purchaseToken)
        }
        // In a deferred replacement, the new token holds the last period of the old one.
        let last = [purchase.purchase?.transactionIdentifier].compactMap(\.self)
        let charges = Set((held.map(\.charge) + last).map { ByteKey($0) })
        let transactions = try await redeemedTransactions(of: purchase) { transaction in
            // A period of a subscription is a transaction, and the token stands for the last one of each line.
            !purchase.isSubscription || charges.contains(ByteKey(transaction.transactionIdentifier))
        }
        return transactions.isEmpty
            ? nil : try entitlements.purchases(repeating: transactions, from: purchase.key.origin)
    }

    /// Takes back the redeemed transactions of an order that Google Play lists as voided (`purchases.voidedpurchases`). No later
    /// statement about the order gives them back. If only some units are voided, the credit of the purchase loses them, and the rest stays.
    ///
    /// The token of a signed purchase that was redeemed without asking Google Play is not recorded. Its name is the transaction itself.
    ///
    /// A record names an order, and neither a product nor an amount. The order has them, unless the service may not see it. A product of
    /// an order of several of which nothing was paid back is another's neighbor (`itemBasedRefund`), and stays.
    ///
    /// - Parameter order: Asks for an order; nil if Google Play does not show it.
    /// - Returns: The outcomes of the order's transactions; none if nobody has redeemed any.
    package func apply(
        _ voided: VoidedGooglePlayPurchase, seeing order: (String) async -> GooglePlayOrder? = { _ in nil }
    ) async throws -> [NotificationOutcome] {
        if let units = voided.quantity, let outcomes = try await apply(voided, units, seeing: order) { return outcomes }
        var seen: GooglePlayOrder?
        if let orderId = voided.orderId, try await !transactions(of: voided).isEmpty { seen = await order(orderId) }
        if seen?.isRefundOfSomeProducts == true { return try await applyRefund(of: voided, seen) }
        try await ledger.writeInBackground { transaction in
            try transaction.register(app: app.bundleIdentifier)
            guard try transaction.voidedPurchases(ofApp: app, packageName).write(voided),
                let known = try purchase(of: voided.purchaseToken, transaction), !known.isFinal
            else { return }
            // An answer of before may be on its way to a user who has not redeemed it yet. The next one is taken back.
            try transaction.googlePurchases.ask(about: known.key, at: entitlements.clock.now())
        }
        return try await applyRefund(of: voided, seen)
    }

    /// Takes back the transactions of a voided order, with the money that was paid back for each.
    private func applyRefund(
        of voided: VoidedGooglePlayPurchase, _ order: GooglePlayOrder?
    ) async throws -> [NotificationOutcome] {
        let now = entitlements.clock.now()
        var outcomes: [NotificationOutcome] = []
        for (origin, transactions) in try await transactions(of: voided) {
            let claims = try transactions.compactMap { transaction -> Claim? in
                let refund = order?.refund(of: transaction.productIdentifier)
                if order?.isRefundOfSomeProducts == true, refund == nil { return nil }
                return try entitlements.claim(
                    repeating: transaction,
                    revoked: (voided.voidedAt, voided.revocationReason.rawValue, now),
                    paying: refund ?? transaction.refund(ofWhole: voided), as: voided)
            }
            outcomes += try await entitlements.outcomes(ofStated: .init(origin: origin, claims: claims))
        }
        return outcomes
    }

    /// The redeemed transactions of a voided order, by their origins.
    private func transactions(
        of voided: VoidedGooglePlayPurchase
    ) async throws -> [(origin: Origin, transactions: [RedeemedTransaction])] {
        let (recorded, names) = (try await purchase(of: voided.purchaseToken), try await tokenNames)
        let name = names.name(of: recorded?.originalToken ?? voided.purchaseToken)
        let originals = try await self.originals(named: name, from: recorded.map { [$0.key.origin] } ?? origins)
        return try await ledger.read { transaction in
            try originals.compactMap { original in
                let transactions = try transaction.redeemedTransactions(ofPurchase: original)
                    .filter { recorded?.isSubscription != true || voided.isOrder(of: $0) }
                return transactions.isEmpty ? nil : (original.origin, transactions)
            }
        }
    }

    /// The time after which an order cannot be refunded, in days: "Orders older than 3 years cannot be refunded" (orders.refund).
    private static let refundDays: Int64 = 3 * 366

    /// The orders of a subscription before the last one of each line that may be paid back, the last ones first.
    ///
    /// The answer about the token names the last order alone. The list of voided purchases has only those that are revoked, too
    /// (developers.google.com/android-publisher/voided-purchases), and no notification tells of the others.
    package func earlierOrders(of purchase: GooglePurchase) async throws -> [String] {
        guard purchase.isSubscription else { return [] }
        let charges = try await redeemedTransactions(of: purchase) { $0.facts[.orderId] != nil }
        return orders(
            of: Dictionary(grouping: charges, by: \.originalTransactionIdentifier).values.flatMap { line in
                line.sorted { $0.isEarlier(than: $1) }.dropLast()
            })
    }

    /// The orders of charges that may be paid back, the last ones first.
    private func orders(of charges: [RedeemedTransaction]) -> [String] {
        let oldest = entitlements.clock.now().adding(days: -Self.refundDays)
        let left = charges.filter { $0.purchaseDate >= oldest && $0.paidBack?.isWhole != true }
        var known: Set<String> = []
        return left.sorted { $1.isEarlier(than: $0) }.compactMap { $0.facts.text(.orderId) }.filter {
            known.insert($0).inserted
        }
    }

    /// The orders that may be paid back of a one-time purchase whose token Google Play does not know any more, as that of a consumed one.
    /// The next question comes when it is due.
    ///
    /// - Returns: Nil for another purchase.
    package func ordersLeft(of purchase: GooglePurchase) async throws -> [String]? {
        guard !purchase.isSubscription, purchase.state == GooglePlayState.purchased.rawValue else { return nil }
        let charges = try await redeemedTransactions(of: purchase) { $0.facts[.orderId] != nil }
        let next = charges.map(\.purchaseDate).max().flatMap {
            GooglePurchase.refundsAskedAt(entitlements.clock.now(), after: $0)
        }
        try await ledger.writeInBackground { try $0.googlePurchases.ask(about: purchase.key, at: next) }
        return orders(of: charges)
    }

    /// States what an order says of the money of redeemed charges. The goods stay as they are.
    ///
    /// - Returns: The outcomes of the charges of which money was paid back since.
    package func apply(
        _ order: GooglePlayOrder, of purchase: GooglePurchase
    ) async throws -> [NotificationOutcome] {
        let charges = try await redeemedTransactions(of: purchase) {
            $0.facts.text(.orderId)?.hasSameBytes(as: order.identifier) ?? false
        }
        let claims = try charges.compactMap { charge in
            try order.refund(of: charge.productIdentifier).flatMap { refund in
                refund.amount == charge.facts.integer(.refundedAmount) && charge.facts[.refundedAt] != nil
                    ? nil
                    : try entitlements.claim(repeating: charge, numbered: purchase.statementNumber, paying: refund)
            }
        }
        return try await entitlements.outcomes(ofStated: .init(origin: purchase.key.origin, claims: claims))
    }

    private func voidedUnits(of statement: GooglePlayStatement) async throws -> VoidedUnits {
        guard !statement.isSubscription else { return VoidedUnits() }
        return try await ledger.read {
            try $0.voidedUnits(ofApp: app, packageName).units(ofToken: statement.purchaseToken)
        }
    }

    /// Takes some units of a one-time purchase back, once for each record.
    ///
    /// - Returns: Nil if no unit is left. The purchase is then voided in full.
    private func apply(
        _ voided: VoidedGooglePlayPurchase, _ units: Int, seeing order: (String) async -> GooglePlayOrder?
    ) async throws -> [NotificationOutcome]? {
        let outcomes = try await takeBack(units, of: voided)
        guard outcomes != nil else { return nil }
        try await payBackUnits(of: voided, seeing: order)
        return outcomes
    }

    /// States the money of voided units: the amount of the order, or the share of the price.
    private func payBackUnits(
        of voided: VoidedGooglePlayPurchase, seeing order: (String) async -> GooglePlayOrder?
    ) async throws {
        let redeemed = try await transactions(of: voided)
        guard let first = redeemed.first else { return }
        let seen = if let orderId = voided.orderId { await order(orderId) } else { GooglePlayOrder?.none }
        let token = voided.purchaseToken
        let (units, bought) = try await ledger.read { transaction in
            let records = try transaction.voidedUnits(ofApp: app, packageName)
            return (
                try records.units(ofToken: token),
                try records.units(ofToken: token, redeemed: first.transactions[0].quantity).bought
            )
        }
        let number = try await numberOfQuestion(about: try await purchase(of: token)) ?? 0
        // The list does not say of which product of a purchase the units are.
        let isOnly = redeemed.flatMap(\.transactions).count == 1
        for (origin, transactions) in redeemed {
            let claims = try transactions.compactMap { transaction -> Claim? in
                let share = isOnly ? transaction.refund(ofUnits: units, of: bought) : nil
                return try (seen?.refund(of: transaction.productIdentifier) ?? share).map {
                    try entitlements.claim(repeating: transaction, numbered: number, paying: $0)
                }
            }
            _ = try await entitlements.outcomes(ofStated: .init(origin: origin, claims: claims))
        }
    }

    private func takeBack(_ units: Int, of voided: VoidedGooglePlayPurchase) async throws -> [NotificationOutcome]? {
        let (now, token) = (entitlements.clock.now(), voided.purchaseToken)
        let name = try await tokenNames.name(of: token)
        return try await ledger.writeInBackground { transaction in
            try transaction.register(app: app.bundleIdentifier)
            let records = try transaction.voidedUnits(ofApp: app, packageName)
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
        let name = try await tokenNames.name(of: purchase.originalToken)
        var transactions: [RedeemedTransaction] = []
        for key in try await originals(named: name, from: [purchase.key.origin]) {
            transactions += try await ledger.read { try $0.redeemedTransactions(ofPurchase: key) }.filter(isIncluded)
        }
        return transactions
    }

    /// The orders of a recorded purchase whose charges have prices.
    package func pricedOrders(of purchase: GooglePurchase) async throws -> Set<String> {
        Set(
            try await redeemedTransactions(of: purchase) { $0.facts[.price] != nil }.compactMap {
                $0.facts.text(.orderId)
            })
    }

    /// The purchases of a chain, one for each line.
    ///
    /// - Parameter name: The name of the first token.
    private func originals(named name: String, from origins: Set<Origin>) async throws -> [TransactionKey] {
        let identifiers = try await ledger.read { try $0.googleOriginals(named: name) }
        return origins.flatMap { origin in
            identifiers.map { TransactionKey(app: app.bundleIdentifier, origin: origin, identifier: $0) }
        }.sorted()
    }

    /// The purchases about which Google Play is to be asked again, the longest overdue first: subscriptions that have fallen silent,
    /// replaced purchases, pending ones, and those whose money may come back. Then those whose period has ended by the own clock of a
    /// customer of a local Play, which is ahead of the clock that the questions go by.
    package func purchasesToAsk(limit: Int) async throws -> [GooglePurchase] {
        let now = entitlements.clock.now()
        let latest = entitlements.customers.map(\.now).max()
        return try await ledger.read { transaction in
            guard let number = try transaction.number(ofApp: app.bundleIdentifier)?.number else { return [] }
            let records = try transaction.googlePurchases
            let due = try records.purchases(
                due: .question, at: now, in: number, of: packageName, origins, limit: limit)
            guard let latest, latest > now else { return due }
            let ended = try records.purchases(paidUntil: latest, in: number, of: packageName, origins).filter {
                $0.hasEnded(by: entitlements.now(ofBuyerOf:))
            }
            return due + ended
        }
    }

    /// The pause after a question about one purchase that has failed, in seconds.
    private static let askPause: Int64 = 600

    /// Puts the next question about a purchase off, so that it does not stand before the others.
    package func askLater(_ purchase: GooglePurchase) async throws {
        let next = entitlements.clock.now().adding(seconds: Self.askPause)
        try await ledger.writeInBackground { try $0.googlePurchases.ask(about: purchase.key, at: next) }
    }

    /// Notes an answer that Google Play has no such purchase. The service asks again after a pause, until Google Play has said so often
    /// and long enough.
    ///
    /// - Returns: True if the service gives the purchase up with this answer.
    package func refuse(_ purchase: GooglePurchase) async throws -> Bool {
        let (refusals, askAt) = purchase.refused(at: entitlements.clock.now())
        try await endOverdueAcknowledgement(of: purchase)
        let isWritten = try await ledger.writeInBackground {
            try $0.googlePurchases.write(refusals, askAt: askAt, of: purchase)
        }
        return isWritten && askAt == nil && purchase.askAt != nil
    }

    /// Ends the acknowledgement of a purchase that Google Play does not know. It stays due until its deadline: a purchase that is granted
    /// is paid, and one wrong answer must not end it.
    ///
    /// - Returns: True if nothing is due any more.
    @discardableResult
    package func endOverdueAcknowledgement(of purchase: GooglePurchase) async throws -> Bool {
        guard let acknowledgement = purchase.acknowledgement else { return true }
        guard acknowledgement.deadline <= entitlements.clock.now() else { return false }
        let now = entitlements.clock.now()
        try await ledger.writeInBackground { transaction in
            try transaction.note(missed: purchase, at: now)
            try transaction.googlePurchases.settle(purchase.key, acknowledgedAt: nil)
        }
        return true
    }
}

/// The error of purchases of which each has replaced the other, directly or by others. Google Play makes no such links.
package struct LinkedTokensCircle: Error {}

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
    /// True if a period of a subscription has this order. Another transaction has it only if the order was shown later.
    fileprivate func isOrder(of transaction: RedeemedTransaction) -> Bool {
        guard let orderId, let order = transaction.facts.text(.orderId) else { return false }
        return order.hasSameBytes(as: orderId)
    }
}

extension LedgerTransaction {
    fileprivate var googlePurchases: GooglePurchaseRecords {
        get throws { GooglePurchaseRecords(database: database, apps: try apps) }
    }

    fileprivate func statementNumbers(ofApp app: App, _ package: String) throws -> StatementNumbers {
        StatementNumbers(database: database, app: try number(ofRecorded: app), package: package)
    }

    fileprivate func voidedPurchases(ofApp app: App, _ package: String) throws -> VoidedPurchaseRecords {
        VoidedPurchaseRecords(database: database, app: try number(ofRecorded: app), package: package)
    }
}
