import Features
import Proofs

/// The verdict on an authentic proof whose transactions were presented to the ledger.
///
/// After a success, the plugin finishes every transaction of its receipt. So a success follows only if none of them can be lost.
package struct CordovaOutcome: Sendable {
    /// The results for the transactions of the proof.
    package let lines: [Redemption.Line]
    /// The types of products by the catalog.
    package let types: [ByteKey: ProductType]

    package init(lines: [Redemption.Line], types: [ByteKey: ProductType]) {
        self.lines = lines
        self.types = types
    }

    /// The reason for a refusal; nil for a success.
    package var refusal: RedemptionError? {
        let refused = lines.compactMap { line in Self.error(of: line.result).map { (line, $0) } }
        let temporary = refused.filter { !RevenueCatErrorRule.isPermanent($0.1.code) }
        if refused.count == lines.count { return temporary.first?.1 ?? refused.first?.1 }
        // The App Store never delivers a finished consumable again.
        return temporary.first { !canReturn($0.0.productId) }?.1
    }

    private func canReturn(_ product: String) -> Bool {
        types[ByteKey(product)].map { $0 != .consumable } ?? false
    }

    private static func error(of result: Redemption.Result) -> RedemptionError? {
        switch result {
        case .granted, .alreadyRedeemed, .revoked: nil
        case .ownedByAnotherUser: .ownedByAnotherUser
        case .transferTooSoon: .transferTooSoon
        case .appAccountTokenMismatch: .appAccountTokenMismatch
        case .productUnknown: .productUnknown
        case .transactionConflict: .transactionConflict
        }
    }
}
