import Commerce
import Foundation
import Receipts

/// What a verified proof states of one transaction, as a user claims it or the App Store notifies of it.
public struct Claim: Hashable, Sendable, Codable {
    /// The bundle identifier of the app. It is no part of the encoded form, which early versions have written without.
    public internal(set) var app = ""
    public let origin: Origin
    public let transactionIdentifier: String
    public let originalTransactionIdentifier: String
    public let productIdentifier: String
    public let quantity: Int
    public let purchaseDate: Timestamp
    /// When the purchase was taken back; a claim that says so grants nothing and ends what the transaction granted before.
    public let revocationDate: Timestamp?
    /// Why, in Apple's numbers (`revocationReason`); nil where the proof does not say.
    public let revocationReason: Int?
    /// Whether all transactions of the original purchase are that purchase, restored: then what is said of one holds for all.
    public let repeatsOriginal: Bool
    /// When the proof was signed: of two statements about a transaction, the later counts.
    public let signedAt: Timestamp
    /// The account token the purchase was made under, which says whose it is; nil when the proof names none.
    public let appAccountToken: UUID?
    /// The SHA-256 of what was signed.
    public let proofDigest: [UInt8]
    /// The signed bytes; nil where proofs are not kept.
    public let proof: KeptProof?
    /// The SHA-256 of the certificates that end and begin the chain of the proof; nil for what an early version has parked.
    public let fingerprints: VerifiedProof.Fingerprints?
    /// What the purchase grants; nil where the catalog does not know the product, or it adds to a balance.
    public private(set) var item: Item?
    /// What each one bought adds to a balance; nil where the product grants an item.
    public private(set) var credit: Credit?
    /// From when on it counts no more; nil for good.
    public private(set) var expiresAt: Timestamp?
    /// Until when the App Store lets the customer keep what could not be charged; nil where nothing is said of it.
    public private(set) var grace: Grace?
    /// The facts that the proof states besides; nil in what an early version has parked.
    public private(set) var facts: TransactionFacts?
    /// The last statement about the renewal of the subscription; nil if the proof has none.
    public private(set) var renewal: StatedRenewal?

    private enum CodingKeys: CodingKey {
        case origin, transactionIdentifier, originalTransactionIdentifier, productIdentifier, quantity, purchaseDate
        case revocationDate, revocationReason, repeatsOriginal, signedAt, appAccountToken, proofDigest, proof
        case fingerprints, item, credit, expiresAt, grace, facts, renewal
    }

    /// What the App Store says of the grace period of a subscription.
    public struct Grace: Hashable, Sendable, Codable {
        /// nil when there is none.
        public let endsAt: Timestamp?
        /// When it was stated, where that was not together with the rest of a parked claim; nil for the same moment.
        let statedAt: Timestamp?

        public init(endsAt: Timestamp?) {
            self.endsAt = endsAt
            statedAt = nil
        }

        init(_ grace: GracePeriod) {
            endsAt = grace.endsAt
            statedAt = grace.statedAt
        }
    }

    /// The same claim, with what other statements say of a grace period, of the facts and of the renewal.
    func with(grace: Grace?, facts: TransactionFacts?, renewal: StatedRenewal?) -> Claim {
        var claim = self
        (claim.grace, claim.facts, claim.renewal) = (grace, facts, renewal)
        return claim
    }

    /// The same claim by another catalog than that of the moment at which it was parked.
    func valued(by benefit: Benefit?) -> Claim {
        var claim = self
        (claim.item, claim.credit, claim.expiresAt) = (benefit?.item, nil, nil)
        switch benefit {
        case .credit(let credit): claim.credit = credit
        case .itemFor(_, let period):
            claim.expiresAt = purchaseDate.adding(period, dayOfMonth: purchaseDate.dayOfMonth)
        // A claim that names no end would count for good.
        case .itemWhilePaid: claim.expiresAt = facts?.date(.expiresDate) ?? expiresAt ?? purchaseDate
        case .item, nil: break
        }
        return claim
    }

    /// Whether the catalog knows what it is good for.
    var isKnown: Bool { item != nil || credit != nil }

    public init(
        app: String,
        origin: Origin,
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        productIdentifier: String,
        quantity: Int,
        purchaseDate: Timestamp,
        revocationDate: Timestamp?,
        revocationReason: Int? = nil,
        repeatsOriginal: Bool = false,
        signedAt: Timestamp,
        appAccountToken: UUID? = nil,
        proofDigest: [UInt8],
        proof: KeptProof? = nil,
        fingerprints: VerifiedProof.Fingerprints? = nil,
        item: Item?,
        credit: Credit? = nil,
        expiresAt: Timestamp? = nil,
        grace: Grace? = nil,
        facts: TransactionFacts? = nil,
        renewal: StatedRenewal? = nil
    ) {
        self.app = app
        self.origin = origin
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.repeatsOriginal = repeatsOriginal
        self.signedAt = signedAt
        self.appAccountToken = appAccountToken
        self.proofDigest = proofDigest
        self.proof = proof
        self.fingerprints = fingerprints
        self.item = item
        self.credit = credit
        self.expiresAt = expiresAt
        self.grace = grace
        self.facts = facts
        self.renewal = renewal
    }
}
