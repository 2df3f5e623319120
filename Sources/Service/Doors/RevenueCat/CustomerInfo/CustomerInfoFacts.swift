import Features
import Proofs

/// The facts about a customer that customer info is derived from.
package struct CustomerInfoFacts: Sendable {
    /// The first identifier of the customer (`original_app_user_id`).
    package var identifier: String
    package var requestDate: Timestamp
    package var firstSeen: Timestamp
    package var lastSeen: Timestamp
    /// The version of the app that the customer first installed; nil if no proof has stated it.
    package var originalApplicationVersion: String?
    /// The date of the first installation; nil if no proof has stated it.
    package var originalPurchaseDate: Timestamp?
    package var transactions: [RedeemedTransaction] = []
    /// The last statement about the renewal of each subscription, by its original transaction.
    package var renewals: [TransactionKey: StatedRenewal] = [:]
    var renewalEvents = RenewalEvents()
    package var grants: [Grant] = []
    package var rights: [CustomerRight] = []
    /// The products of the catalog, by identifier.
    package var products: [ByteKey: CustomerProduct] = [:]
    package var attributes: [CustomerAttribute] = []

    package init(
        identifier: String,
        requestDate: Timestamp,
        firstSeen: Timestamp,
        lastSeen: Timestamp? = nil
    ) {
        self.identifier = identifier
        self.requestDate = requestDate
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen ?? requestDate
    }
}
