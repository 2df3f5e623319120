import Catalog
import Ledger
import Proofs

/// A request for a decision: the claims of a user's proof, or a statement of a store.
package enum ClaimRequest: Sendable {
    case redeem(PresentedClaims)
    /// - stating: Nil for a notification without a transaction.
    case notify(NotificationRecord, stating: Claim?)
    case state(Claim)

    var claims: [Claim] {
        switch self {
        case .redeem(let presented): presented.claims
        case .notify(_, let claim): claim.map { [$0] } ?? []
        case .state(let claim): [claim]
        }
    }

    /// The bundle identifiers of the request's apps.
    var apps: [String] {
        if case .notify(let notification, _) = self { return [notification.app] }
        return claims.map(\.app)
    }

    /// The claims that a user presents; nil for a statement.
    var presented: PresentedClaims? { if case .redeem(let presented) = self { presented } else { nil } }
}

/// The claims that a user presents.
package struct PresentedClaims: Sendable {
    package internal(set) var claims: [Claim]
    package let user: User
    /// The origins that are valid for the user, for the items in the answer.
    let origins: Set<Origin>
    let actor: AuditActor
    /// Nil to keep no answer.
    package var keeping: AnswerKeeping?
    /// The limit of the caller, for the items in the answer; nil for a caller of all apps.
    package var limit: AppLimit?
    /// The caller's allowance for users without a purchase; nil for no limit.
    package var newcomers: NewcomerAllowance?
    /// False for an answer without items.
    package var withItems = true

    package init(_ claims: [Claim], for user: User, accepting origins: Set<Origin>, by actor: AuditActor) {
        (self.claims, self.user, self.origins, self.actor) = (claims, user, origins, actor)
    }
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

    package init(key: IdempotencyKey, oldest: Timestamp, make: @escaping @Sendable (ClaimAnswer) -> KeptAnswer?) {
        (self.key, self.oldest, self.make) = (key, oldest, make)
    }
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
    package func answer(_ presented: PresentedClaims) async throws -> ClaimAnswer {
        let sent = presented.claims
        guard sent.count > Self.claimsOfCommit else { return try await claims.answer(.redeem(presented)) }
        func answer(_ part: [Int], keeping: AnswerKeeping? = nil) async throws -> ClaimAnswer {
            var presented = presented
            (presented.claims, presented.keeping) = (part.map { sent[$0] }, keeping)
            return try await claims.answer(.redeem(presented))
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
        let keepingWhole = presented.keeping.map { keeping in
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
