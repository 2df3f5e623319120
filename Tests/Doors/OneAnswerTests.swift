import Catalog
import Commerce
import Doors
import Entitlements
import Receipts
import TestSupport
import Testing

/// Items, subscriptions, rights, explanations and both doors give one answer about the same purchases, at many moments of
/// generated lives.
@Suite struct OneAnswerTests {
    private static let user: Int64 = 1
    private static let day: Int64 = 86_400
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)
    private static let app = "com.example.garden"

    private static func item(of product: String) -> Item { Item(collection: product, number: 1) }

    /// The statements about a subscription: renewals, also early ones and gaps, upgrades, downgrades, refunds, grace periods.
    private static func life(_ dice: Dice) -> [Claim] {
        var claims: [Claim] = []
        var (begin, product, isAfterUpgrade) = (start, "plus", false)
        for number in 1...(2 + dice.number(below: 4)) {
            let end = begin.adding(days: 30)
            // The first periods of some customers are unknown.
            let isKnown = number > 1 || !dice.happens(20)
            let isEarly = number > 1 && !isAfterUpgrade && dice.happens(50)
            let signed = begin.adding(seconds: isEarly ? -Int64(dice.number(below: 20)) * 3600 - 600 : 0)
            let next = begin.adding(days: 10)
            let isUpgraded = product == "plus" && dice.happens(25)
            let grace = !isUpgraded && dice.happens(15) ? end.adding(days: 6) : nil
            func claim(signed: Timestamp, revoked: Timestamp? = nil, grace: Timestamp? = nil) -> Claim {
                Claim(
                    app: app, origin: .appleProduction, transactionIdentifier: "\(number)",
                    originalTransactionIdentifier: "1", productIdentifier: product, quantity: 1, purchaseDate: begin,
                    revocationDate: revoked, signedAt: signed, proofDigest: [], item: item(of: product), expiresAt: end,
                    grace: grace.map { .init(endsAt: $0) },
                    facts: TransactionFacts([.type: .text(ProductType.autoRenewableSubscription.rawValue)]))
            }
            if isKnown { claims.append(claim(signed: signed)) }
            // The App Store states a grace period when a charge has failed.
            if isKnown, grace != nil { claims.append(claim(signed: end, grace: grace)) }
            isAfterUpgrade = isUpgraded
            if isUpgraded {
                // The receipt after the upgrade has a cancellation date.
                if isKnown, dice.happens(60) { claims.append(claim(signed: next.adding(seconds: 5), revoked: next)) }
                (begin, product) = (next, "gold")
                continue
            }
            if dice.happens(15) {
                let refunded = begin.adding(days: 3 + Int64(dice.number(below: 20)))
                if isKnown { claims.append(claim(signed: refunded.adding(seconds: 5), revoked: refunded)) }
                begin = end.adding(days: Int64(dice.number(below: 20)))
            } else {
                begin = grace ?? (dice.happens(20) ? end.adding(days: 12) : end)
            }
            if product == "gold", dice.happens(30) { product = "plus" }
        }
        return claims
    }

    /// What each surface says that the customer owns now: the product of the subscription, and its end.
    private struct Answers {
        var items: [String] = []
        var subscriptions: [String] = []
        var rights: [String] = []
        var explanations: [String] = []
        var revenueCat: [String] = []
        var cordova: [String] = []

        /// The surfaces that differ from the items.
        var contradictions: [String] {
            [
                ("subscriptions", subscriptions), ("rights", rights), ("explanations", explanations),
                ("revenueCat", revenueCat), ("cordova", cordova),
            ].filter { $0.1.sorted() != items.sorted() }.map { "\($0.0) \($0.1) instead of \(items)" }
        }
    }

    private static func text(_ product: String, _ end: Timestamp?) -> String {
        // An item ends a minute before the period that replaces it begins.
        "\(product) until \(end.map { "\(($0.millisecondsSince1970 + 90_000) / 3_600_000)" } ?? "-")"
    }

    private static func transactions(_ facts: EntitlementFacts, _ original: TransactionKey) -> [RedeemedTransaction] {
        facts.transactions(of: original).enumerated().map { index, transaction in
            RedeemedTransaction(
                sequence: Int64(index + 1), origin: .appleProduction,
                transactionIdentifier: transaction.key.identifier, originalTransactionIdentifier: original.identifier,
                productIdentifier: transaction.transaction.productIdentifier,
                purchaseDate: transaction.transaction.purchaseDate, redeemedAt: start,
                revocationDate: transaction.transaction.status.revocationDate,
                details: .init(
                    app: app, expiresAt: transaction.transaction.status.expiresAt,
                    graceEndsAt: transaction.transaction.grace?.endsAt,
                    facts: transaction.transaction.stated ?? TransactionFacts()))
        }
    }

    private static func answers(_ facts: EntitlementFacts, at moment: Timestamp) -> Answers {
        let original = TransactionKey(app: app, origin: .appleProduction, identifier: "1")
        let transactions = transactions(facts, original)
        let coverage = facts.coverage(of: original)
        let sources = transactions.compactMap { transaction -> ItemCoverage? in
            let key = TransactionKey(
                app: app, origin: .appleProduction, identifier: transaction.transactionIdentifier)
            guard let covered = coverage[key], !covered.isRevoked else { return nil }
            return ItemCoverage(
                item: item(of: transaction.productIdentifier), beginsAt: transaction.purchaseDate,
                coversFrom: covered.beginsAt, endsAt: covered.endsAt, source: .purchase(transaction))
        }
        let type: (String) -> ProductType? = { _ in .autoRenewableSubscription }
        let owned = OwnedItem.all(by: sources, owningBesides: [], at: moment, type: type)
        var answers = Answers()
        answers.items = owned.map { text($0.item.collection, $0.until) }
        let status = PurchaseStatus(transactions, .autoRenewableSubscription, nil, at: moment)
        if let status, status.state.isOwned {
            answers.subscriptions = [text(status.productIdentifier, status.until ?? status.since)]
        }
        let rights = ["plus", "gold"].map { RightSources(name: $0, products: [], items: [item(of: $0)]) }
        answers.rights = UserRight.all(of: rights, by: sources, owningBesides: [], at: moment, type: type)
            .filter(\.isActive).map { text($0.name, $0.item.until) }
        for product in ["plus", "gold"] {
            var about = ItemFacts()
            about.products = [product]
            about.owned = owned.first { $0.item.collection == product }
            if about.owned == nil, let status {
                about.purchases = [.init(status: status, counts: true, revocation: nil, revocationDate: nil)]
            }
            let explanation = ItemExplanation(of: item(of: product), by: about)
            if explanation.isOwned { answers.explanations.append(text(product, explanation.until)) }
        }
        var customer = CustomerInfoFacts(identifier: "alice", requestDate: moment, firstSeen: start)
        customer.transactions = transactions
        for (product, subscription) in CustomerInfo(customer).subscriptions where subscription.isActive(at: moment) {
            answers.revenueCat.append(text(product.text, subscription.expiresDate))
        }
        let collection = PurchaseCollection(PurchaseCollection.Facts(moment: moment, transactions: transactions))
        answers.cordova = collection.purchases.filter { !$0.isExpired }
            .map { text($0.productIdentifier, $0.expiryDate) }
        return answers
    }

    @Test(arguments: 0..<20) func `every surface gives one answer`(part: UInt64) {
        for seed in part * 20..<(part + 1) * 20 {
            let dice = Dice(seed: seed)
            let claims = Self.life(dice)
            var moments = claims.flatMap { claim in
                [claim.purchaseDate, claim.expiresAt, claim.revocationDate, claim.signedAt].compactMap(\.self)
            }
            moments += moments.map { $0.adding(days: Int64(dice.number(below: 9))) }
            // Within a minute of a change, the tolerance for the App Store's clock counts.
            moments = moments.flatMap { [$0.adding(seconds: -100), $0.adding(seconds: 100)] }
            for moment in moments {
                var decision = EntitlementDecision(
                    facts: EntitlementFacts(), origins: [.appleProduction], at: moment)
                for claim in dice.shuffle(claims.filter { $0.signedAt <= moment }) {
                    _ = decision.redeem(claim, for: Self.user, by: .user)
                }
                let contradictions = Self.answers(decision.facts, at: moment).contradictions
                guard contradictions.isEmpty else {
                    Issue.record("seed \(seed), \(moment.rfc3339): \(contradictions.joined(separator: "; "))")
                    return
                }
            }
        }
    }
}
