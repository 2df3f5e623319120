import Proofs

/// The operator's policy for a user who presents another user's purchase.
///
/// A transfer moves a purchase with all its transactions in one commit. A purchase that added to a balance is never
/// transferred, because it may be spent. If the App Store states an account token for any other purchase, the token decides
/// regardless of the policy.
package enum OwnershipPolicy: Hashable, Sendable {
    /// The purchase stays with the first user who redeemed it.
    case keep
    /// The purchase is transferred to the user who presents it, but not again before the pause is over.
    case transfer(pauseSeconds: Int64)
    /// Like `transfer`, but only if nothing of the purchase is active, such as an expired subscription.
    case transferIfInactive(pauseSeconds: Int64)

    /// The default pause between two transfers of a purchase: 30 days.
    package static let defaultPauseSeconds: Int64 = 30 * 24 * 60 * 60

    /// - Parameter name: The name in the operator's settings.
    /// - Returns: Nil for an unknown name.
    package init?(name: String, pauseSeconds: Int64) {
        switch name {
        case "keep": self = .keep
        case "transfer": self = .transfer(pauseSeconds: pauseSeconds)
        case "transferIfInactive": self = .transferIfInactive(pauseSeconds: pauseSeconds)
        default: return nil
        }
    }

    /// The reason not to transfer a purchase; nil to transfer it.
    ///
    /// - Parameters:
    ///   - isActive: True if a part of the purchase is active.
    ///   - transferredAt: The time of the last transfer.
    func refusal(
        isActive: @autoclosure () -> Bool,
        transferredAt: Timestamp?,
        at moment: Timestamp
    ) -> Redemption.Result? {
        let pause: Int64
        switch self {
        case .keep: return .ownedByAnotherUser
        case .transfer(let seconds): pause = seconds
        case .transferIfInactive(let seconds):
            if isActive() { return .ownedByAnotherUser }
            pause = seconds
        }
        return transferredAt.map { moment < $0.adding(seconds: pause) } ?? false ? .transferTooSoon : nil
    }
}
