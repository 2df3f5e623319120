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
        let refused = lines.filter { !$0.mayFinish }
        let temporary = refused.filter { !RevenueCatErrorRule.isPermanent($0.result.rawValue) }
        let reason =
            refused.count == lines.count
            ? temporary.first ?? refused.first
            // The App Store never delivers a finished consumable again.
            : temporary.first { !canReturn($0.productId) }
        return reason.map { .purchaseRefused($0.result) }
    }

    private func canReturn(_ product: String) -> Bool {
        types[ByteKey(product)].map { $0 != .consumable } ?? false
    }
}
