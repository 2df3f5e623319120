import Catalog
import Ledger
import Proofs

/// The use cases of purchases that a store states without a signature, when the service asks it.
extension EntitlementService {
    /// A revocation that a store states of transactions: its date, its reason in Apple's numbers, and the date of the statement.
    package typealias StatedRevocation = (date: Timestamp, reason: Int, statedAt: Timestamp)

    /// Redeemed transactions, as they would be presented again.
    ///
    /// - Parameter revocation: Nil to state nothing new.
    package func purchases(
        repeating transactions: [RedeemedTransaction], from origin: Origin, revoked revocation: StatedRevocation? = nil
    ) throws -> VerifiedPurchases {
        VerifiedPurchases(
            origin: origin,
            claims: try transactions.map { transaction in
                try Claim(repeating: transaction, revoked: revocation, granting: apps[transaction.seller]?.catalog)
            })
    }

    /// The claim of a redeemed transaction that its store takes back, or of which it states a refund alone.
    ///
    /// - Parameters:
    ///   - revocation: Nil for a refund that leaves the goods as they are.
    ///   - number: The number of the question whose answer states the refund.
    ///   - refund: Nil if the store states no amount.
    ///   - voided: The record of Google Play that takes the transaction back; nil for none.
    func claim(
        repeating transaction: RedeemedTransaction, revoked revocation: StatedRevocation? = nil,
        numbered number: Int64 = 0, paying refund: StatedRefund?, as voided: VoidedGooglePlayPurchase? = nil
    ) throws(BrokenInvariant) -> Claim {
        var facts = transaction.facts
        let now = clock.now()
        facts[.signedDate] = .integer(now.millisecondsSince1970)
        if let refund { facts.state(refund) }
        if let voided { facts.state(voidedBy: voided.source, reason: voided.reason) }
        return try Claim(
            repeating: transaction, revoked: revocation, stating: (facts, number, now),
            granting: apps[transaction.seller]?.catalog)
    }
}

extension LedgerTransaction {
    /// The transactions of a purchase that its owner has redeemed, in no order; none without an owner.
    package func redeemedTransactions(ofPurchase key: TransactionKey) throws -> [RedeemedTransaction] {
        let apps = try apps
        let owner: Int64? = try database.value(
            "\(Table.ownerOfPurchase) AND origin = $2 AND app = $3",
            key.sqlValues(apps))
        guard let owner else { return [] }
        return try ReadingRecords(database: database).transactions(ofPurchase: key, apps, of: owner)
    }
}

extension EntitlementService.VerifiedPurchases {
    /// The purchases with those that are to be applied before them.
    func after(_ earlier: Self?) -> Self { Self(origin: origin, claims: (earlier?.claims ?? []) + claims) }

    /// The purchases, each under the original transaction with which it is redeemed.
    package var proven: [ProvenPurchase] {
        claims.map { claim in
            ProvenPurchase(
                transactionIdentifier: claim.transactionIdentifier,
                originalTransactionIdentifier: claim.originalTransactionIdentifier,
                productIdentifier: claim.productIdentifier, quantity: claim.quantity, purchaseDate: claim.purchaseDate,
                revocationDate: claim.revocationDate,
                revocationReason: claim.revocationReason.flatMap(RevocationReason.init)?.rawValue,
                expiresDate: claim.expiresAt,
                appAccountToken: claim.appAccountToken, facts: claim.facts ?? TransactionFacts())
        }
    }
}

extension EntitlementService {
    /// The purchase of a product that a store has stated. Nothing is redeemed.
    ///
    /// - Parameter product: The product of which a purchase with several is preferred; nil for the first one.
    /// - Throws: `RedemptionError` if there is none; `StorageFault`.
    package func purchase(
        in statement: RedemptionDoor.Statement, of product: String?
    ) async throws -> VerifiedPurchase {
        let claims = statement.claims.claims
        let claim = claims.first { claim in product.map(claim.productIdentifier.hasSameBytes) ?? true }
        guard let claim = claim ?? claims.first else { throw RedemptionError.notRedeemable }
        return try await purchase(
            claim, statement.signed?.environment ?? (statement.origin.isSandbox ? .sandbox : .production))
    }

    private func purchase(_ claim: Claim, _ environment: AppStoreEnvironment) async throws -> VerifiedPurchase {
        let type = claim.facts?.productType ?? catalogs.type(of: claim.productIdentifier)
        let moment = now(ofBuyerOf: claim.transactionIdentifier)
        return try await ledger.read {
            let records = EntitlementRecords(database: $0.database, apps: try $0.apps)
            return VerifiedPurchase(claim, type, environment, by: try records.facts(about: [claim]), at: moment)
        }
    }
}

/// The purchase that a store states, with what the ledger knows of it.
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
    /// - Parameter claim: The claim of the proof, by the catalog.
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
        expiresAt = decision.facts.coverage(of: original)[key]?.endsAt
        isRevoked = decision.facts.revokedByTeam.contains(original) || isTakenBack
        if let status = decision.status(of: original, type: { _ in type }) {
            isOwned = status.state.isOwned && status.productIdentifier.hasSameBytes(as: claim.productIdentifier)
        }
    }
}
