import Proofs

extension ProofResource {
    package init(_ proof: VerifiedProof) {
        let kind: Kind =
            switch proof.content {
            case .appReceipt: .appReceipt
            case .transaction: .transaction
            case .renewalInfo: .renewalInfo
            case .notification: .notification
            case .appTransaction: .appTransaction
            }
        self.init(
            kind: kind, origin: proof.origin, environment: proof.environment, bundleId: proof.bundleIdentifier,
            signedAt: proof.signedAt.rfc3339,
            purchases: proof.purchases?.map { purchase in
                Purchase(
                    productId: purchase.productIdentifier,
                    transactionId: proof.origin.statedIdentifier(purchase.transactionIdentifier),
                    originalTransactionId: proof.origin.statedIdentifier(purchase.originalTransactionIdentifier),
                    quantity: purchase.quantity,
                    purchaseDate: purchase.purchaseDate.rfc3339, revocationDate: purchase.revocationDate?.rfc3339)
            })
    }
}
