import Catalog
import Ledger
import Proofs
import Vocabulary

/// A request for a decision: the claims of a user's proof, or a statement of the App Store.
package enum ClaimRequest: Sendable {
    /// - accepting: The origins that are valid for the user, for the items in the answer.
    /// - seeing: The limit of the caller, for the same items; nil for a caller of all apps.
    /// - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - withItems: False for an answer without items.
    case redeem(
        [Claim], for: User, accepting: Set<Origin>, by: AuditActor, keeping: AnswerKeeping? = nil,
        seeing: AppLimit? = nil, newcomers: NewcomerAllowance? = nil, withItems: Bool = true)
    /// - stating: Nil for a notification without a transaction.
    case notify(NotificationRecord, stating: Claim?)
    case state(Claim)

    var claims: [Claim] {
        switch self {
        case .redeem(let claims, _, _, _, _, _, _, _): claims
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
        if case .redeem(_, let user, _, _, _, _, _, _) = self { user } else { nil }
    }

    var keeping: AnswerKeeping? {
        if case .redeem(_, _, _, _, let keeping, _, _, _) = self { keeping } else { nil }
    }

    var newcomers: NewcomerAllowance? {
        if case .redeem(_, _, _, _, _, _, let newcomers, _) = self { newcomers } else { nil }
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

/// The answer to store under an idempotency key, in the commit of its claims.
package struct AnswerKeeping: Sendable {
    package let key: IdempotencyKey
    /// The time of the oldest valid answers. Older ones are deleted.
    let oldest: Timestamp
    /// Returns the bytes to store; nil stores nothing.
    let make: @Sendable (ClaimAnswer) -> KeptAnswer?
}

/// The results of a user's claims, and the items of the user after them, from the same commit.
package struct LedgerAnswer: Hashable, Sendable {
    /// The results of the claims, in their order.
    package let results: [Redemption.Result]
    /// Empty if the request is for none.
    package let items: [Item]
}

/// Claims in parts, so that a request with many purchases does not hold the one writer of the ledger.
extension EntitlementService {
    /// The number of claims after which a request goes on in the next commit. All claims of a purchase share a commit: a period can
    /// replace another one.
    package static let claimsOfCommit = 1000

    /// Answers a request to redeem, in one commit for each part.
    ///
    /// A request that fails in between has redeemed its first parts. Sent again, it redeems the others.
    ///
    /// - Throws: `StorageFault`.
    package func answer(_ request: ClaimRequest) async throws -> ClaimAnswer {
        guard
            case .redeem(
                let sent, let user, let origins, let actor, let keeping, let limit, let newcomers, let withItems) =
                request,
            sent.count > Self.claimsOfCommit
        else { return try await claims.answer(request) }
        func answer(_ part: [Int], keeping: AnswerKeeping? = nil) async throws -> ClaimAnswer {
            try await claims.answer(
                .redeem(
                    part.map { sent[$0] }, for: user, accepting: origins, by: actor, keeping: keeping, seeing: limit,
                    newcomers: newcomers, withItems: withItems))
        }
        let parts = Self.parts(of: sent)
        var results: [Int: Redemption.Result] = [:]
        for part in parts.dropLast() {
            guard case .redeemed(let answer) = try await answer(part) else { return .userUnknown }
            results.merge(zip(part, answer.results)) { $1 }
        }
        // The answer to all parts. The items are those after the last one.
        let (places, last) = (sent.indices, parts[parts.count - 1])
        let whole = { @Sendable [results] (answer: ClaimAnswer) -> ClaimAnswer in
            guard case .redeemed(let redeemed) = answer else { return answer }
            let all = results.merging(zip(last, redeemed.results)) { $1 }
            return .redeemed(LedgerAnswer(results: places.compactMap { all[$0] }, items: redeemed.items))
        }
        let keepingWhole = keeping.map { keeping in
            AnswerKeeping(key: keeping.key, oldest: keeping.oldest) { keeping.make(whole($0)) }
        }
        return whole(try await answer(last, keeping: keepingWhole))
    }

    /// The places of the claims in each part, in order.
    private static func parts(of claims: [Claim]) -> [[Int]] {
        var parts: [[Int]] = [[]]
        for places in Dictionary(grouping: claims.indices, by: { claims[$0].originalKey }).values.sorted(
            by: { ($0.first ?? 0) < ($1.first ?? 0) })
        {
            if parts[parts.count - 1].count + places.count > claimsOfCommit, !parts[parts.count - 1].isEmpty {
                parts.append([])
            }
            parts[parts.count - 1] += places
        }
        return parts
    }
}
