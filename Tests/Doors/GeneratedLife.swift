import Entitlements
import Proofs
import TestSupport
import Vocabulary

/// A generated customer: everything that the App Store states about the purchases, and the grants by the team.
struct GeneratedLife {
    /// A statement about a purchase, with the time at which the service learns of it.
    struct Statement {
        let arrivesAt: Timestamp
        let claim: Claim
    }

    static let app = "com.example.garden"
    static let start = Timestamp(secondsSince1970: 1_790_000_000)
    /// The price of every paid purchase, in milliunits.
    static let price: Int64 = 4_990
    static let currency = "USD"
    private static let digest = [UInt8](repeating: 7, count: 32)
    /// The products with their types. Each but the consumable gives an item of its name.
    static let types: [String: ProductType] = [
        "plus": .autoRenewableSubscription, "gold": .autoRenewableSubscription, "pass": .nonRenewingSubscription,
        "gate": .nonConsumable, "seeds": .consumable,
    ]

    static func item(of product: String) -> Item { Item(collection: product, number: 1) }

    private(set) var statements: [Statement] = []
    private(set) var grants: [Grant] = []

    /// A life of given claims, which arrive when they are signed.
    init(_ claims: [Claim]) {
        statements = claims.map { Statement(arrivesAt: $0.signedAt, claim: $0) }
    }

    init(_ dice: Dice) {
        addSubscription(dice)
        addGate(dice)
        addPasses(dice)
        addSeeds(dice)
        addGrants(dice)
        // A customer without a known purchase has nothing to compare.
        if statements.isEmpty { add(Self.claim(of: "gate", "g1", original: "g1", from: Self.start), dice) }
    }

    /// The statements that the service knows at a moment, in the order of their arrival.
    func known(at moment: Timestamp) -> [Claim] {
        statements.filter { $0.arrivesAt <= moment }.sorted { $0.arrivesAt < $1.arrivesAt }.map(\.claim)
    }

    /// The grants as they are known at a moment.
    func grants(at moment: Timestamp) -> [Grant] {
        grants.filter { $0.grantedAt <= moment }.map { grant in
            guard let revocation = grant.revocation, revocation.revokedAt > moment else { return grant }
            return Grant(
                identifier: grant.identifier, item: grant.item, reason: grant.reason, grantedBy: grant.grantedBy,
                grantedAt: grant.grantedAt, endsAt: grant.endsAt)
        }
    }

    /// The moments at which the answers are compared: before and after some changes, and some days later.
    func moments(_ dice: Dice) -> [Timestamp] {
        var moments = statements.flatMap { statement in
            let claim = statement.claim
            return [
                statement.arrivesAt, claim.purchaseDate, claim.expiresAt, claim.revocationDate, claim.grace?.endsAt,
            ].compactMap(\.self)
        }
        moments += grants.flatMap { [$0.grantedAt, $0.endsAt, $0.revocation?.revokedAt].compactMap(\.self) }
        moments += moments.map { $0.adding(days: Int64(dice.number(below: 9))) }
        let some = dice.shuffle(Set(moments).sorted()).prefix(25)
        // Within a minute of a change, the tolerance for the App Store's clock counts.
        return some.flatMap { [$0.adding(seconds: -100), $0.adding(seconds: 100)] }.sorted()
    }

    // MARK: Statements

    private mutating func add(_ claim: Claim, _ dice: Dice) {
        let delay = dice.happens(15) ? Int64(dice.number(below: 20 * 24)) * 3600 : 0
        statements.append(Statement(arrivesAt: claim.signedAt.adding(seconds: delay), claim: claim))
    }

    static func claim(
        of product: String,
        _ transaction: String,
        original: String,
        from begin: Timestamp,
        to end: Timestamp? = nil,
        signed: Timestamp? = nil,
        revoked: Timestamp? = nil,
        renewal: [RenewalFact: StatedValue]? = nil,
        graceEnds: Timestamp? = nil,
        facts: [TransactionFact: StatedValue] = [:]
    ) -> Claim {
        let type = Self.types[product] ?? .nonConsumable
        let signed = signed ?? begin
        var stated = TransactionFacts([
            .type: .text(type.rawValue), .price: .integer(Self.price), .currency: .text(Self.currency),
            .signedDate: .integer(signed.millisecondsSince1970),
        ])
        if type == .autoRenewableSubscription { stated[.expiresDate] = end.map { .integer($0.millisecondsSince1970) } }
        for (fact, value) in facts { stated[fact] = value }
        let renewal = renewal.map { StatedRenewal(statedAt: signed, proofDigest: Self.digest, facts: RenewalFacts($0)) }
        // A statement without a charge that failed says that there is no grace period.
        let isRetried = renewal?.facts.bool(.isInBillingRetryPeriod) == true
        let isGivenUp = renewal?.facts.integer(.expirationIntent) == Int64(ExpirationIntent.billingError.rawValue)
        let saysNothing = renewal == nil || isRetried || isGivenUp || revoked != nil
        return Claim(
            app: Self.app, origin: .appleProduction, transactionIdentifier: transaction,
            originalTransactionIdentifier: original, productIdentifier: product, quantity: 1, purchaseDate: begin,
            revocationDate: revoked, repeatsOriginal: type == .nonConsumable, signedAt: signed,
            proofDigest: Self.digest,
            item: type == .consumable ? nil : Self.item(of: product),
            credit: type == .consumable ? Credit(balance: "seeds", amount: 10) : nil, expiresAt: end,
            grace: graceEnds.map { .until($0) } ?? (saysNothing ? nil : .until(nil)), facts: stated,
            renewal: renewal)
    }

    // MARK: Subscriptions

    private static func ownership(_ dice: Dice) -> InAppOwnershipType {
        if dice.happens(15) { return .familyShared }
        return dice.happens(10) ? .assigned : .purchased
    }

    /// What ends a period of a subscription.
    private enum End {
        case renewal, gap, upgrade, refund, turnedOff, failedCharge
    }

    private static func end(of product: String, _ dice: Dice) -> End {
        if product == "plus", dice.happens(25) { return .upgrade }
        if dice.happens(15) { return .refund }
        if dice.happens(15) { return .turnedOff }
        if dice.happens(25) { return .failedCharge }
        return dice.happens(20) ? .gap : .renewal
    }

    /// Renewals, also early ones and gaps, upgrades, downgrades, refunds, failed charges with and without a grace period, and
    /// periods that the App Store states under two identifiers.
    private mutating func addSubscription(_ dice: Dice) {
        let ownership = Self.ownership(dice)
        var (begin, product, isAfterUpgrade) = (Self.start, "plus", false)
        for number in 1...(2 + dice.number(below: 4)) {
            var facts: [TransactionFact: StatedValue] = [.webOrderLineItemId: .text("event \(number)")]
            facts[.inAppOwnershipType] = .text(ownership.rawValue)
            if number == 1, dice.happens(20) {
                facts[.offerDiscountType] = .text(OfferDiscountType.freeTrial.rawValue)
            }
            let (start, end, current) = (begin, begin.adding(days: 30), product)
            func period(
                signed: Timestamp,
                revoked: Timestamp? = nil,
                renewal: [RenewalFact: StatedValue]? = nil,
                graceEnds: Timestamp? = nil,
                asSecond: Bool = false
            ) -> Claim {
                var facts = facts
                if ownership == .familyShared, revoked != nil {
                    facts[.revocationType] = .text(RevocationType.familyRevoke.rawValue)
                }
                return Self.claim(
                    of: current, "\(number)\(asSecond ? "b" : "")", original: "1", from: start, to: end, signed: signed,
                    revoked: revoked, renewal: renewal, graceEnds: graceEnds, facts: facts)
            }
            // The first periods of some customers are unknown.
            let isKnown = number > 1 || !dice.happens(20)
            let isEarly = number > 1 && !isAfterUpgrade && dice.happens(50)
            let signed = start.adding(seconds: isEarly ? -Int64(dice.number(below: 20)) * 3600 - 600 : 0)
            var stated = [period(signed: signed)]
            let hasSecond = dice.happens(15)
            if hasSecond { stated.append(period(signed: signed, asSecond: true)) }
            isAfterUpgrade = false
            switch Self.end(of: product, dice) {
            case .renewal: begin = end
            case .gap: begin = end.adding(days: 12)
            case .upgrade:
                let next = start.adding(days: 10)
                // The receipt after the upgrade has a cancellation date.
                if dice.happens(60) { stated.append(period(signed: next.adding(seconds: 5), revoked: next)) }
                (begin, product, isAfterUpgrade) = (next, "gold", true)
            case .refund:
                let refunded = start.adding(days: 3 + Int64(dice.number(below: 20)))
                let isOfSecond = hasSecond && dice.happens(50)
                stated.append(
                    period(signed: refunded.adding(seconds: 5), revoked: refunded, asSecond: isOfSecond))
                // A later statement under the other identifier does not know of the refund.
                if hasSecond { stated.append(period(signed: refunded.adding(days: 1), asSecond: !isOfSecond)) }
                if dice.happens(20) { stated.append(period(signed: refunded.adding(days: 2), asSecond: isOfSecond)) }
                begin = end.adding(days: Int64(dice.number(below: 20)))
            case .turnedOff:
                stated.append(period(signed: start.adding(days: 5), renewal: [.autoRenewStatus: .integer(0)]))
                stated.append(
                    period(
                        signed: end,
                        renewal: [
                            .autoRenewStatus: .integer(0),
                            .expirationIntent: .integer(Int64(ExpirationIntent.customerCancelled.rawValue)),
                        ]))
                begin = end.adding(days: Int64(dice.number(below: 20)))
            case .failedCharge:
                // The App Store charges up to a day before the end.
                let failed = end.adding(seconds: -Int64(dice.number(below: 20)) * 3600)
                let graceEnds = dice.happens(60) ? end.adding(days: 6) : nil
                stated.append(
                    period(
                        signed: failed,
                        renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)],
                        graceEnds: graceEnds))
                let recovered = end.adding(days: 1 + Int64(dice.number(below: 12)))
                if dice.happens(30) {
                    stated.append(
                        period(
                            signed: recovered,
                            renewal: [
                                .autoRenewStatus: .integer(0), .isInBillingRetryPeriod: .integer(0),
                                .expirationIntent: .integer(Int64(ExpirationIntent.billingError.rawValue)),
                            ]))
                    begin = recovered.adding(days: 10)
                } else {
                    begin = recovered
                }
            }
            for claim in isKnown ? stated : [] { add(claim, dice) }
            if !isAfterUpgrade, product == "gold", dice.happens(30) { product = "plus" }
        }
    }

    // MARK: Other purchases and grants

    /// A permanent purchase, which may be restored, shared by the family, refunded, and its refund reversed.
    private mutating func addGate(_ dice: Dice) {
        guard dice.happens(60) else { return }
        let isShared = dice.happens(20)
        let facts: [TransactionFact: StatedValue] =
            isShared ? [.inAppOwnershipType: .text(InAppOwnershipType.familyShared.rawValue)] : [:]
        let begin = Self.start.adding(days: Int64(dice.number(below: 40)))
        add(Self.claim(of: "gate", "g1", original: "g1", from: begin, facts: facts), dice)
        if dice.happens(30) {
            add(Self.claim(of: "gate", "g2", original: "g1", from: begin.adding(days: 20), facts: facts), dice)
        }
        guard dice.happens(40) else { return }
        let refunded = begin.adding(days: 1 + Int64(dice.number(below: 30)))
        let kind: RevocationType = isShared ? .familyRevoke : .refundFull
        add(
            Self.claim(
                of: "gate", "g1", original: "g1", from: begin, signed: refunded.adding(seconds: 5), revoked: refunded,
                facts: facts.merging([.revocationType: .text(kind.rawValue)]) { $1 }), dice)
        if dice.happens(50) {
            add(
                Self.claim(
                    of: "gate", "g1", original: "g1", from: begin, signed: refunded.adding(days: 4), facts: facts), dice
            )
        }
    }

    /// Purchases of a product that the catalog grants for 90 days. Each is a purchase of its own.
    private mutating func addPasses(_ dice: Dice) {
        for number in 0..<dice.number(below: 3) {
            let begin = Self.start.adding(days: Int64(dice.number(below: 90)))
            let (name, end) = ("p\(number)", begin.adding(days: 90))
            add(Self.claim(of: "pass", name, original: name, from: begin, to: end), dice)
            guard dice.happens(25) else { continue }
            let refunded = begin.adding(days: 1 + Int64(dice.number(below: 60)))
            add(
                Self.claim(
                    of: "pass", name, original: name, from: begin, to: end, signed: refunded.adding(seconds: 5),
                    revoked: refunded), dice)
        }
    }

    private mutating func addSeeds(_ dice: Dice) {
        for number in 0..<dice.number(below: 3) {
            let (name, begin) = ("s\(number)", Self.start.adding(days: Int64(dice.number(below: 90))))
            add(Self.claim(of: "seeds", name, original: name, from: begin), dice)
            guard dice.happens(30) else { continue }
            let refunded = begin.adding(days: 1 + Int64(dice.number(below: 20)))
            add(
                Self.claim(
                    of: "seeds", name, original: name, from: begin, signed: refunded.adding(seconds: 5),
                    revoked: refunded), dice)
        }
    }

    private mutating func addGrants(_ dice: Dice) {
        guard dice.happens(40) else { return }
        let granted = Self.start.adding(days: Int64(dice.number(below: 60)))
        let revoked = dice.happens(30) ? granted.adding(days: 4) : nil
        grants.append(
            Grant(
                sequence: 1, identifier: "grant", item: Self.item(of: dice.happens(50) ? "plus" : "gate"),
                reason: "gift",
                grantedBy: "K", grantedAt: granted,
                endsAt: dice.happens(60) ? granted.adding(days: 10 + Int64(dice.number(below: 60))) : nil,
                revocation: revoked.map { Revocation(revokedAt: $0, reason: "mistake", revokedBy: "K") }))
    }
}
