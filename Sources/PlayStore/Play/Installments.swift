import Proofs

/// Plans that are paid in installments: the customer commits to a number of payments.
extension RecurringPurchase {
    package struct Commitment: Codable, Hashable, Sendable {
        /// The payments to which the customer commits.
        package let payments: Int
        /// True if another commitment follows; false if the plan then renews like another.
        package let isRenewed: Bool

        package init(payments: Int, isRenewed: Bool) {
            (self.payments, self.isRenewed) = (payments, isRenewed)
        }
    }

    /// The committed payments that are not made yet; 0 without a commitment.
    package var remainingCommittedPayments: Int {
        guard let commitment = terms.commitment, commitment.payments > 0 else { return 0 }
        // A trial is no payment, and neither is the time of a replaced plan.
        let paid = periods.count { ($0.price.billionths ?? 0) > 0 && !$0.isCarriedOver }
        guard paid > commitment.payments else { return commitment.payments - paid }
        return commitment.isRenewed ? commitment.payments - 1 - (paid - 1) % commitment.payments : 0
    }

    /// The commitment as the API states it; nil for another plan.
    var installmentDetails: SubscriptionPurchaseV2.InstallmentDetails? {
        guard let commitment = terms.commitment else { return nil }
        return .init(
            initialCommittedPaymentsCount: Int32(commitment.payments),
            subsequentCommittedPaymentsCount: commitment.isRenewed ? Int32(commitment.payments) : nil,
            remainingCommittedPaymentsCount: Int32(remainingCommittedPayments),
            pendingCancellation: pendingCancellation == nil ? nil : .init())
    }
}
