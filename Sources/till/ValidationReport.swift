import Commerce
import Receipts

/// What `till receipt validate` answers.
struct ValidationReport: Encodable {
    /// A purchase that the proof holds.
    struct InAppPurchase: Encodable {
        let productId: String
        let transactionId: String
        let originalTransactionId: String
        let quantity: Int
        let purchaseDate: String
        let revocationDate: String?
    }

    let valid: Bool
    /// The code of the refusal, when invalid.
    let reason: String?
    let message: String?
    /// The step of the check at which it was refused.
    let step: ProofRefusal.Step?
    /// `appReceipt`, `transaction`, `renewalInfo`, `notification` or `appTransaction`.
    var kind: String?
    var origin: Origin?
    var environment: AppStoreEnvironment?
    var bundleId: String?
    /// Of a JWS; RFC 3339, UTC.
    var signedAt: String?
    /// Of an app receipt; RFC 3339, UTC.
    var createdAt: String?
    var inAppPurchases: [InAppPurchase]?

    init(_ refusal: ProofRefusal) {
        valid = false
        reason = refusal.code
        message = refusal.message
        step = refusal.reason.step
    }

    init(_ proof: VerifiedProof) {
        valid = true
        reason = nil
        message = nil
        step = nil
        switch proof.content {
        case .appReceipt: kind = "appReceipt"
        case .transaction: kind = "transaction"
        case .renewalInfo: kind = "renewalInfo"
        case .notification: kind = "notification"
        case .appTransaction: kind = "appTransaction"
        }
        origin = proof.origin
        environment = proof.environment
        bundleId = proof.bundleIdentifier
        if case .appReceipt = proof.content {
            createdAt = proof.signedAt.rfc3339
        } else {
            signedAt = proof.signedAt.rfc3339
        }
        inAppPurchases = (proof.purchases ?? []).map { purchase in
            InAppPurchase(
                productId: purchase.productIdentifier,
                transactionId: purchase.transactionIdentifier,
                originalTransactionId: purchase.originalTransactionIdentifier,
                quantity: purchase.quantity,
                purchaseDate: purchase.purchaseDate.rfc3339,
                revocationDate: purchase.revocationDate?.rfc3339)
        }
    }

    /// The same for a person.
    var lines: [String] {
        guard valid else { return ["invalid: \(reason ?? "")"] }
        var lines = ["valid"]
        let facts = [
            ("kind", kind), ("origin", origin?.rawValue), ("app", bundleId), ("created", createdAt),
            ("signed", signedAt),
        ]
        for case (let name, let value?) in facts { lines.append("  \(name): \(value)") }
        let purchases = inAppPurchases ?? []
        if kind == "appReceipt", purchases.isEmpty { lines.append("  purchases: none") }
        for purchase in purchases {
            lines.append("  purchase: \(purchase.productId)  \(purchase.transactionId)  \(purchase.purchaseDate)")
        }
        return lines
    }
}
