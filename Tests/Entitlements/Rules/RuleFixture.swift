import Entitlements
import Foundation
import Proofs
import Vocabulary

/// Claims and decisions that the tests of the rules share.
///
/// Alice is user 1, bob user 2, carol user 3. Each has an account token.
struct RuleFixture {
    static let (alice, bob, carol): (Int64, Int64, Int64) = (1, 2, 3)
    static let sprout = Item(collection: "sprout", number: 1)
    static let now = Timestamp(secondsSince1970: 1_790_000_000)

    static func later(_ seconds: Int64) -> Timestamp { now.adding(seconds: seconds) }

    static func token(of user: Int64) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(user)))
    }

    static func claim(
        _ transaction: String = "1",
        original: String? = nil,
        chain: String? = nil,
        app: String = "com.example.app",
        origin: Origin = .localSandbox,
        product: String = "p",
        bought: Int64 = 0,
        revoked: Bool = false,
        repeatsOriginal: Bool = false,
        signed: Int64 = 0,
        of tokenOwner: Int64? = nil,
        item: Item? = sprout,
        credit: Credit? = nil,
        expires: Int64? = nil,
        period: SubscriptionPeriod? = nil,
        grace: Claim.Grace? = nil,
        facts: TransactionFacts? = nil,
        renewal: StatedRenewal? = nil
    ) -> Claim {
        Claim(
            app: app, origin: origin, transactionIdentifier: transaction,
            originalTransactionIdentifier: original ?? transaction, chainTransactionIdentifier: chain,
            productIdentifier: product, quantity: 1, purchaseDate: later(bought),
            revocationDate: revoked ? later(signed) : nil, repeatsOriginal: repeatsOriginal, signedAt: later(signed),
            appAccountToken: tokenOwner.map(token), proofDigest: [UInt8](repeating: 7, count: 32), item: item,
            credit: credit, expiresAt: expires.map(later), period: period, grace: grace, facts: facts, renewal: renewal)
    }

    /// A decision over facts without purchases.
    static func decision(
        _ policy: OwnershipPolicy = .keep,
        after seconds: Int64 = 0,
        knowing facts: EntitlementFacts? = nil,
        accepting origins: Set<Origin> = [.localSandbox]
    ) -> EntitlementDecision {
        var facts = facts ?? EntitlementFacts()
        for user in [alice, bob, carol] { facts.tokenOwners[token(of: user)] = user }
        return facts.decision(under: policy, accepting: origins, at: later(seconds))
    }

    /// A step of a story: a user presents a claim, or the App Store states it.
    enum Step {
        case redeem(Claim, Int64)
        case state(Claim)

        var origin: Origin {
            switch self {
            case .redeem(let claim, _), .state(let claim): claim.origin
            }
        }
    }

    /// Plays a story from its start.
    ///
    /// - Returns: The result of each step, as the API names it, and the decision after the last step.
    static func play(
        _ steps: [Step],
        under policy: OwnershipPolicy = .keep,
        after seconds: Int64 = 0,
        knowing facts: EntitlementFacts? = nil
    ) -> (results: [String], decision: EntitlementDecision) {
        var decision = decision(
            policy, after: seconds, knowing: facts, accepting: Set(steps.map(\.origin) + [.localSandbox]))
        let results = steps.map { step in
            switch step {
            case .redeem(let claim, let user): decision.redeem(claim, for: user, by: .user).rawValue
            case .state(let claim): decision.state(claim).rawValue
            }
        }
        return (results, decision)
    }
}

extension EntitlementDecision {
    func owner(of original: String) -> Int64? {
        facts.purchases[TransactionKey(app: "com.example.app", origin: .localSandbox, identifier: original)]?.owner
    }

    func status(of transaction: String) -> TransactionStatus? {
        facts.transactions[TransactionKey(app: "com.example.app", origin: .localSandbox, identifier: transaction)]?
            .status
    }

    /// The audit entries as text, such as "1 granted 1".
    var story: [String] {
        changes.events.compactMap { event in
            guard case .audit(let entry, let user) = event else { return nil }
            return "\(user) \(entry.event.rawValue) \(entry.reference)"
        }
    }
}
