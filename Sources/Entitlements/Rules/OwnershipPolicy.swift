import Commerce

/// What happens when a user presents a purchase that is another's; the operator of a service chooses.
///
/// A purchase moves with all its transactions, in one commit. What adds to a balance stays with whoever redeemed it, under every
/// policy: it may be spent. Where the App Store names a user's account token for anything else, the token decides, whatever the
/// policy.
public enum OwnershipPolicy: Hashable, Sendable {
    /// It stays with whoever redeemed it first.
    case keep
    /// It moves to whoever presents it, but not again before so many seconds have passed.
    case transfer(pauseSeconds: Int64)
    /// The same, where nothing that was bought counts any more, such as a subscription that has ended.
    case transferIfInactive(pauseSeconds: Int64)

    /// How long a purchase stays where it was moved to, unless an operator says otherwise: 30 days.
    public static let defaultPauseSeconds: Int64 = 30 * 24 * 60 * 60

    /// - Returns: nil for a name of no policy.
    public init?(name: String, pauseSeconds: Int64) {
        switch name {
        case "keep": self = .keep
        case "transfer": self = .transfer(pauseSeconds: pauseSeconds)
        case "transferIfInactive": self = .transferIfInactive(pauseSeconds: pauseSeconds)
        default: return nil
        }
    }

    /// As an operator writes it.
    public var name: String {
        switch self {
        case .keep: "keep"
        case .transfer: "transfer"
        case .transferIfInactive: "transferIfInactive"
        }
    }

    /// nil where nothing moves.
    public var pauseSeconds: Int64? {
        switch self {
        case .keep: nil
        case .transfer(let pause), .transferIfInactive(let pause): pause
        }
    }

    /// Why a purchase does not move; nil where it does.
    ///
    /// - Parameters:
    ///   - isActive: Whether something that was bought counts still.
    ///   - transferredAt: When it was moved last.
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
