import Commerce
import Ledger
import Receipts

/// A transaction that a user has redeemed, as the ledger keeps it.
public struct RedeemedTransaction: Hashable, Sendable {
    /// Grows with every transaction that the ledger takes in for the same user.
    public let sequence: Int64
    public let origin: Origin
    public let transactionIdentifier: String
    public let originalTransactionIdentifier: String
    public let productIdentifier: String
    public let quantity: Int
    public let purchaseDate: Timestamp
    public let redeemedAt: Timestamp
    /// When the purchase was taken back; nil while it stands.
    public let revocationDate: Timestamp?
    /// Why, in Apple's numbers (`revocationReason`); nil where nobody said.
    public let revocationReason: Int?
    /// The bundle identifier of the app that sold it; nil if it was not read.
    public var app: String? { details.first?.app }
    /// When what was bought ends, as the App Store or the catalog says; nil for good.
    public var expiresAt: Timestamp? { details.first?.expiresAt }
    /// The end of the grace period; nil if the App Store has stated none.
    public var graceEndsAt: Timestamp? { details.first?.graceEndsAt }
    /// That the team itself has taken it back; nil while it has not.
    public var revocation: Revocation? { details.first?.revocation }
    /// The facts that the App Store has stated besides.
    public var facts: TransactionFacts { details.first?.facts ?? TransactionFacts() }
    /// One; behind an array, so that a transaction stays small enough to be returned by what throws.
    let details: [Details]

    package init(
        sequence: Int64,
        origin: Origin,
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        productIdentifier: String,
        quantity: Int = 1,
        purchaseDate: Timestamp,
        redeemedAt: Timestamp,
        revocationDate: Timestamp? = nil,
        revocationReason: Int? = nil,
        details: Details
    ) {
        self.sequence = sequence
        self.origin = origin
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.redeemedAt = redeemedAt
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.details = [details]
    }

    package struct Details: Hashable, Sendable {
        let app: String?
        let expiresAt: Timestamp?
        let graceEndsAt: Timestamp?
        let revocation: Revocation?
        let facts: TransactionFacts

        package init(
            app: String? = nil,
            expiresAt: Timestamp? = nil,
            graceEndsAt: Timestamp? = nil,
            revocation: Revocation? = nil,
            facts: TransactionFacts = TransactionFacts()
        ) {
            self.app = app
            self.expiresAt = expiresAt
            self.graceEndsAt = graceEndsAt
            self.revocation = revocation
            self.facts = facts
        }
    }
}
