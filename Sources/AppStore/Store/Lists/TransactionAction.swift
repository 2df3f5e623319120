import Proofs

/// A tester's action on a transaction, or on its subscription (StoreKitTest, `SKTestSession`).
package enum TransactionAction: String, Sendable, CaseIterable {
    case requestRefund
    case refund
    case declineRefund
    case reverseRefund
    case share
    case revokeFamilySharing
    case forceRenewal
    case failRenewal
    case resolveBillingIssue
    case expire
    case turnAutoRenewOff
    case turnAutoRenewOn
    case requestPriceIncrease
    case consentToPriceIncrease
    case declinePriceIncrease
    case delete
}

extension ListedTransaction {
    /// The actions that change something now, in the order of their cases.
    package var actions: [TransactionAction] {
        TransactionAction.allCases.filter(isPossible)
    }

    private func isPossible(_ action: TransactionAction) -> Bool {
        let isActive = subscription?.status == .active
        let isPending = subscription?.priceIncrease?.isAccepted == false
        let isRenewing = subscription?.isAutoRenewing == true
        return switch action {
        case .requestRefund: transaction.revocation == nil && transaction.ownership == .purchased
        case .refund, .declineRefund: transaction.revocation == nil
        case .reverseRefund: transaction.revocation?.type == .refundFull
        case .share: isShareable
        case .revokeFamilySharing: transaction.revocation == nil && transaction.ownership == .familyShared
        case .forceRenewal: isActive && !isPending
        case .failRenewal: isActive && isRenewing && !isPending
        case .resolveBillingIssue:
            subscription?.status == .billingRetry || subscription?.status == .billingGracePeriod
        case .expire: isActive || subscription?.status == .billingGracePeriod
        case .turnAutoRenewOff: isRenewing
        case .turnAutoRenewOn: isActive && !isRenewing
        case .requestPriceIncrease: isActive && isRenewing
        case .consentToPriceIncrease, .declinePriceIncrease: isPending
        case .delete: true
        }
    }
}
