import Proofs

extension SubscriptionStatusResource {
    init(_ item: StatusResponse.SubscriptionGroupIdentifierItem) {
        self.init(
            subscriptionGroupIdentifier: item.subscriptionGroupIdentifier,
            lastTransactions: item.lastTransactions.map {
                Transaction(
                    status: $0.status.rawValue, originalTransactionId: $0.originalTransactionId,
                    signedTransactionInfo: $0.signedTransactionInfo, signedRenewalInfo: $0.signedRenewalInfo)
            })
    }
}
