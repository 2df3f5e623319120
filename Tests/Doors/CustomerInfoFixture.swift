import Catalog
import Entitlements
import Proofs
import Service
import Testing
import Vocabulary

/// Facts about a customer for tests of customer info, in days of January 2027.
struct CustomerInfoFixture {
    static let monthly = "garden.monthly"
    static let gate = "garden.gate"
    static let seeds = "garden.seeds"
    /// The request date: noon of 10 January 2027.
    static let now = day(10)

    /// Noon of a day of January 2027. Days outside the month are counted on.
    static func day(_ day: Int64) -> Timestamp {
        Timestamp(secondsSince1970: 1_798_804_800).adding(days: day - 1)
    }

    /// The same moment in the protocol's form.
    static func text(_ day: Int64) -> JSONValue { .string(Self.day(day).rfc3339) }

    var facts = CustomerInfoFacts(identifier: "alice", requestDate: now, firstSeen: day(-30))

    init(rights: [RightSources] = []) {
        facts.rights = rights
    }

    var info: CustomerInfo { CustomerInfo(facts) }

    /// The answer at the request date.
    var json: JSONValue { get throws { try JSONParser.parse(RenderedCustomerInfo(info).json(at: facts.requestDate)) } }

    func subscription(_ product: String = monthly) -> CustomerInfo.Subscription? {
        info.subscriptions[ByteKey(product)]
    }

    func entitlement(_ right: String = "premium") -> CustomerInfo.Entitlement? {
        info.entitlements[ByteKey(right)]
    }

    /// Adds a period of a subscription.
    ///
    /// - Parameter original: The original transaction; by default the first subscription.
    mutating func subscribe(
        _ product: String = monthly,
        original: String = "1",
        from start: Int64,
        to end: Int64,
        graceUntil grace: Int64? = nil,
        refundedOn refund: Int64? = nil,
        origin: Origin = .appleProduction,
        revocation: Revocation? = nil,
        facts stated: [TransactionFact: StatedValue] = [:]
    ) {
        add(
            product, original: original, on: start, until: end, graceUntil: grace, refundedOn: refund, origin: origin,
            revocation: revocation,
            facts: stated.merging([.type: .text(ProductType.autoRenewableSubscription.rawValue)]) { first, _ in first })
    }

    /// Adds a purchase that does not renew.
    mutating func buy(
        _ product: String,
        original: String? = nil,
        on start: Int64,
        until end: Int64? = nil,
        type: ProductType = .nonConsumable,
        refundedOn refund: Int64? = nil,
        origin: Origin = .appleProduction,
        revocation: Revocation? = nil,
        facts stated: [TransactionFact: StatedValue] = [:]
    ) {
        add(
            product, original: original ?? String(facts.transactions.count + 1), on: start, until: end,
            graceUntil: nil, refundedOn: refund, origin: origin, revocation: revocation,
            facts: stated.merging([.type: .text(type.rawValue)]) { first, _ in first })
    }

    private mutating func add(
        _ product: String,
        original: String,
        on start: Int64,
        until end: Int64?,
        graceUntil grace: Int64?,
        refundedOn refund: Int64?,
        origin: Origin,
        revocation: Revocation?,
        facts stated: [TransactionFact: StatedValue]
    ) {
        let sequence = Int64(facts.transactions.count + 1)
        facts.transactions.append(
            RedeemedTransaction(
                sequence: sequence, origin: origin, transactionIdentifier: String(sequence),
                originalTransactionIdentifier: original, productIdentifier: product, purchaseDate: Self.day(start),
                redeemedAt: Self.day(start), revocationDate: refund.map { Self.day($0) },
                app: "com.example.garden", expiresAt: end.map { Self.day($0) },
                graceEndsAt: grace.map { Self.day($0) }, revocation: revocation, facts: TransactionFacts(stated)))
    }

    /// Adds a statement about the renewal of a subscription.
    mutating func state(
        _ renewal: [RenewalFact: StatedValue],
        on day: Int64,
        original: String = "1",
        origin: Origin = .appleProduction
    ) {
        let key = TransactionKey(app: "com.example.garden", origin: origin, identifier: original)
        facts.renewals[key] = StatedRenewal(statedAt: Self.day(day), proofDigest: [], facts: RenewalFacts(renewal))
    }

    mutating func grant(_ item: Item, on start: Int64, until end: Timestamp? = nil, revokedOn revoked: Int64? = nil) {
        facts.grants.append(
            Grant(
                sequence: Int64(facts.grants.count + 1), identifier: "grant-\(facts.grants.count + 1)", item: item,
                reason: "apology", grantedBy: "key", grantedAt: Self.day(start), endsAt: end,
                revocation: revoked.map { Self.revocation($0) }))
    }

    static func revocation(_ day: Int64) -> Revocation {
        Revocation(revokedAt: Self.day(day), reason: "fraud", revokedBy: "key")
    }
}
