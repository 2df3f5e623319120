import Catalog
import Ledger
import Proofs

/// A request for a decision: the claims of a user's proof, or a statement of the App Store.
package enum ClaimRequest: Sendable {
    /// - accepting: The origins that are valid for the user, for the items in the answer.
    /// - seeing: The limit of the caller, for the same items; nil for a caller of all apps.
    /// - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    case redeem(
        [Claim], for: User, accepting: Set<Origin>, by: AuditActor, keeping: AnswerKeeping? = nil,
        seeing: AppLimit? = nil, newcomers: NewcomerAllowance? = nil)
    /// - stating: Nil for a notification without a transaction.
    case notify(NotificationRecord, stating: Claim?)
    case state(Claim)

    var claims: [Claim] {
        switch self {
        case .redeem(let claims, _, _, _, _, _, _): claims
        case .notify(_, let claim): claim.map { [$0] } ?? []
        case .state(let claim): [claim]
        }
    }

    /// The bundle identifiers of the request's apps.
    var apps: [String] {
        if case .notify(let notification, _) = self { return [notification.app] }
        return claims.map(\.app)
    }

    var user: User? {
        if case .redeem(_, let user, _, _, _, _, _) = self { user } else { nil }
    }

    var keeping: AnswerKeeping? {
        if case .redeem(_, _, _, _, let keeping, _, _) = self { keeping } else { nil }
    }

    var newcomers: NewcomerAllowance? {
        if case .redeem(_, _, _, _, _, _, let newcomers) = self { newcomers } else { nil }
    }

    var isStatement: Bool { user == nil }
}

/// The answer to a `ClaimRequest`.
package enum ClaimAnswer: Sendable {
    case redeemed(LedgerAnswer)
    case recorded(NotificationOutcome)
    /// The account does not exist, or was erased.
    case userUnknown
    /// The answer stored for an earlier request under the same idempotency key. Nothing was changed.
    case kept(KeptAnswer)
}
