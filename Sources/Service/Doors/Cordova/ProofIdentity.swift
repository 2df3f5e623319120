import Features
import Proofs

/// The identity of a customer to whom the app gives no id.
///
/// It is the App Store's number for the app and the customer's account (`appTransactionId`). A proof without one identifies its
/// customer by the earliest purchase that stays in receipts.
struct ProofIdentity: Hashable, Sendable {
    let user: User

    /// - Parameters:
    ///   - purchases: The purchases of a verified proof.
    ///   - app: The bundle identifier of the app.
    /// - Returns: Nil without a purchase.
    init?(of purchases: [ProvenPurchase], app: String, origin: Origin) {
        let lasting = purchases.filter { $0.facts.text(.type).flatMap(ProductType.init) != .consumable }
        guard let first = (lasting.isEmpty ? purchases : lasting).min(by: Self.isEarlier) else { return nil }
        // Xcode states the same number for each customer.
        let account = origin == .xcode ? nil : first.facts.text(.appTransactionId)
        let parts = [
            app, origin.rawValue, account == nil ? "originalTransactionId" : "appTransactionId",
            account ?? first.originalTransactionIdentifier,
        ]
        let digest = DigestAlgorithm.sha256.digest(of: Array(parts.joined(separator: "\n").utf8))
        guard let user = User(proofCustomer: digest.prefix(16).hexadecimal) else { return nil }
        self.user = user
    }

    private static func isEarlier(_ left: ProvenPurchase, _ right: ProvenPurchase) -> Bool {
        func order(_ purchase: ProvenPurchase) -> (Timestamp, ByteKey) {
            (
                purchase.facts.date(.originalPurchaseDate) ?? purchase.purchaseDate,
                ByteKey(purchase.originalTransactionIdentifier)
            )
        }
        return order(left) < order(right)
    }
}
