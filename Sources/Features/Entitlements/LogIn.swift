import Catalog
import Ledger
import Proofs

/// The result of a log-in.
package struct LogIn: Hashable, Sendable {
    /// The largest number of records of an anonymous customer that a log-in moves. Purchases of everybody wait meanwhile.
    package static let maximumRecords = 5000

    package enum Effect: String, Sendable {
        /// The ids were already the same customer's, or they are those of two known customers. Or the anonymous id has nothing, and
        /// the customer has no room for another alias.
        case unchanged
        /// The anonymous id became a further id of the customer.
        case aliased
        /// The anonymous customer became one with the known customer.
        case merged
    }

    /// True if the new id was unknown.
    package let isNew: Bool
    package let effect: Effect
}

extension EntitlementService {
    /// The purchase of a verified signed transaction. Nothing is redeemed.
    ///
    /// - Throws: `RedemptionError` for another kind of proof; `StorageFault`.
    package func purchase(in verified: VerifiedProof) async throws -> VerifiedPurchase {
        guard case .transaction = verified.content, let stated = verified.purchases?.first else {
            throw RedemptionError.notRedeemable
        }
        let app = try bundleIdentifier(of: verified)
        let claim = ProofClaims(of: verified, [], app: app, by: apps[app]?.catalog, isKept: false).claim(stated)
        return try await purchase(claim, verified.environment)
    }

    /// The purchase of a product that Google Play has stated. Nothing is redeemed.
    ///
    /// - Parameter product: The product of which a purchase with several is preferred; nil for the first one.
    /// - Throws: `RedemptionError` if there is none; `StorageFault`.
    package func purchase(in purchases: VerifiedPurchases, of product: String?) async throws -> VerifiedPurchase {
        let claim = purchases.claims.first { claim in product.map(claim.productIdentifier.hasSameBytes) ?? true }
        guard let claim = claim ?? purchases.claims.first else { throw RedemptionError.notRedeemable }
        return try await purchase(claim, purchases.origin.isSandbox ? .sandbox : .production)
    }

    private func purchase(_ claim: Claim, _ environment: AppStoreEnvironment) async throws -> VerifiedPurchase {
        let stated = claim.facts?.text(.type).flatMap(ProductType.init)
        let type = stated ?? catalogs.type(of: claim.productIdentifier)
        let moment = now(ofBuyerOf: claim.transactionIdentifier)
        return try await ledger.read {
            let records = EntitlementRecords(database: $0.database, apps: try $0.apps)
            return VerifiedPurchase(claim, type, environment, by: try records.facts(about: [claim]), at: moment)
        }
    }
}

/// The purchase that a verified signed transaction or Google Play states, with what the ledger knows of it.
package struct VerifiedPurchase: Hashable, Sendable {
    package let environment: AppStoreEnvironment
    package let productIdentifier: String
    /// Nil if neither the store nor the catalog states it.
    package let type: ProductType?
    /// The end of the period; nil for a purchase without an end.
    package var expiresAt: Timestamp?
    /// True if the last statement about the purchase, or the team, has revoked it.
    package var isRevoked = false
    /// True if a user has redeemed the transaction.
    package var isRedeemed = false
    /// True if the latest period of the purchase is of the same product, and owned.
    package var isOwned = false
    /// True if the ledger has the transaction with another product, so that a redemption would be refused.
    package var isConflicting = false

    /// The purchase as it would be in the ledger if its user redeemed the proof now.
    ///
    /// - Parameters:
    ///   - claim: The claim of the proof, by the catalog.
    ///   - facts: The facts about the claim.
    package init(
        _ claim: Claim,
        _ type: ProductType?,
        _ environment: AppStoreEnvironment,
        by facts: EntitlementFacts,
        at moment: Timestamp
    ) {
        (self.environment, self.type) = (environment, type)
        productIdentifier = claim.productIdentifier
        isConflicting = facts.hasOtherProduct(than: claim)
        guard !isConflicting else { return }
        isRedeemed = facts.transactions[facts.standing(for: claim).key] != nil
        var decision = facts.decision(at: moment)
        let (key, original) = decision.suppose(claim.endingAsStated)
        let transaction = decision.facts.transactions[key]
        let isTakenBack = transaction?.status.isRevoked ?? false
        // The App Store may state the upgrade of a period as its revocation.
        let isReplaced = isTakenBack && transaction?.isUpgraded ?? false
        expiresAt =
            isReplaced ? transaction?.status.revocationDate : decision.facts.coverage(of: original)[key]?.endsAt
        isRevoked = decision.facts.revokedByTeam.contains(original) || isTakenBack && !isReplaced
        if let status = decision.status(of: original, type: { _ in type }) {
            isOwned = status.state.isOwned && status.productIdentifier.hasSameBytes(as: claim.productIdentifier)
        }
    }
}

/// The error of a log-in. Nothing was changed.
package enum LogInError: RuledError, Equatable {
    /// The anonymous customer has too many records to move them in one commit.
    case customerTooLarge

    package var rule: ErrorRule {
        switch self {
        case .customerTooLarge:
            ErrorRule(
                "customerTooLarge", .conflict,
                "The anonymous customer has more than \(LogIn.maximumRecords) records, too many for a log-in. Nothing was "
                    + "changed. Let the team join the two ids by an import.",
                korean: "익명 고객의 기록이 \(LogIn.maximumRecords)건을 넘어 로그인할 수 없습니다. 아무것도 바꾸지 않았습니다. 두 아이디를 가져오기로 합치세요.")
        }
    }
}
