import Catalog
import Ledger
import Proofs

/// The answer of a catalog's rules to the App Store's question about a refund, with the facts.
package final class RefundDecision: Sendable {
    package let facts: RefundFacts
    package let answer: RefundAnswer
    /// True if the answer is recorded and not sent.
    package let isDryRun: Bool
    /// The number of the user who has redeemed the purchase; nil for none.
    fileprivate let owner: Int64?

    /// Decides a question by the rules of a catalog. Nil if the catalog has no rules.
    ///
    /// - Parameter preference: The preference if no rule matches; nil for none.
    package init?(
        about request: OpenConsumptionRequest,
        by catalog: Catalog,
        otherwise preference: RefundPreference?,
        in transaction: LedgerTransaction
    ) throws {
        guard let rules = catalog.refundRules else { return nil }
        (facts, owner) = try transaction.refundFacts(about: request, in: catalog)
        answer = rules.answer(to: facts, otherwise: preference)
        isDryRun = rules.isDryRun
    }
}

extension LedgerTransaction {
    /// The facts about the purchase of a question, as of the question.
    ///
    /// - Parameter catalog: The catalog with the types of products whose type the App Store has not stated.
    /// - Returns: The facts, and the number of the user who has redeemed the purchase; nil for none.
    package func refundFacts(
        about request: OpenConsumptionRequest,
        in catalog: Catalog
    ) throws -> (facts: RefundFacts, owner: Int64?) {
        let key = try TransactionKey(
            app: request.app, origin: request.origin, identifier: request.transactionIdentifier
        ).sqlValues(apps)
        let owner: Int64? = try database.value(
            "SELECT user_id FROM claim WHERE transaction_id = $1 AND origin = $2 AND app = $3", key)
        if let owner, let bought = try transaction(of: request, of: owner) {
            return (try facts(about: bought, request, of: owner, in: catalog), owner)
        }
        let parked = try database.row(
            "SELECT claim FROM parked_transaction WHERE transaction_id = $1 AND origin = $2 AND app = $3", key
        ) { try Claim(parked: try $0.next(), of: request.app) }
        let facts = RefundFacts(
            product: parked?.productIdentifier,
            type: type(of: parked?.productIdentifier, parked?.facts, request, in: catalog),
            reason: request.reason, isDelivered: false, age: parked.map { request.age(since: $0.purchaseDate) })
        return (facts, nil)
    }

    private func type(
        of product: String?,
        _ facts: TransactionFacts?,
        _ request: OpenConsumptionRequest,
        in catalog: Catalog
    ) -> ProductType? {
        if request.isSubscription { return .autoRenewableSubscription }
        return facts?.text(.type).flatMap(ProductType.init) ?? product.flatMap { catalog.product($0)?.type }
    }

    private func transaction(of request: OpenConsumptionRequest, of user: Int64) throws -> RedeemedTransaction? {
        try ReadingRecords(database: database).transactions([request.transactionIdentifier], of: user).first {
            $0.origin == request.origin && $0.app?.hasSameBytes(as: request.app) ?? false
        }
    }

    private func facts(
        about bought: RedeemedTransaction,
        _ request: OpenConsumptionRequest,
        of user: Int64,
        in catalog: Catalog
    ) throws -> RefundFacts {
        // Apple withdraws family sharing without a refund, and the rest of an upgraded period.
        let refunds: Int? = try database.value(
            """
            SELECT count(*) FROM redeemed_transaction
            WHERE user_id = $1 AND origin = $2 AND app = $3 AND transaction_id <> $4 AND revocation_date IS NOT NULL
                AND coalesce(is_upgraded, 0) = 0 AND coalesce(ownership_type, 'PURCHASED') = 'PURCHASED'
            """,
            [user, request.origin, bought.appNumber, request.transactionIdentifier])
        return RefundFacts(
            product: bought.productIdentifier,
            type: type(of: bought.productIdentifier, bought.facts, request, in: catalog),
            reason: request.reason, consumed: try consumed(bought, of: user, at: request.signedAt),
            age: request.age(since: bought.purchaseDate), refunds: refunds)
    }

    /// The consumed share of a purchase: of the amount that it has added to a balance, or of its time; nil for another purchase.
    private func consumed(_ bought: RedeemedTransaction, of user: Int64, at moment: Timestamp) throws -> Int? {
        let credit = try database.row(
            "SELECT balance, amount FROM credit WHERE user_id = $1 AND sequence = $2", [user, bought.sequence]
        ) { (balance: try $0.next() as String, amount: try $0.next() as Int) }
        guard let credit else {
            return bought.expiresAt.map { RefundFacts.consumed(from: bought.purchaseDate, until: $0, at: moment) }
        }
        return try database.row(
            """
            SELECT CAST(coalesce(sum(added), 0) AS BIGINT), CAST(coalesce(sum(spent), 0) AS BIGINT) FROM (
                SELECT amount AS added, 0 AS spent FROM credit
                WHERE user_id = $1 AND balance = $2 AND sequence < $3 AND is_revoked = 0
                UNION ALL
                SELECT amount, 0 FROM balance_addition WHERE user_id = $1 AND balance = $2 AND added_at < $4
                UNION ALL
                SELECT 0, amount FROM spending WHERE user_id = $1 AND balance = $2) AS movement
            """,
            [user, credit.balance, bought.sequence, bought.redeemedAt]
        ) { RefundFacts.consumed(of: credit.amount, addedAfter: try $0.next(), spent: try $0.next()) }
    }

    /// Settles a question, and records the decision of the rules in the audit log of the purchase's owner.
    ///
    /// - Parameter code: The code with which the App Store has refused the answer; nil if it has accepted it.
    package func settle(
        _ request: OpenConsumptionRequest,
        deciding decision: RefundDecision,
        refusedAs code: String?,
        at moment: Timestamp
    ) throws {
        try settle(request, at: moment)
        guard let owner = decision.owner else { return }
        let answer = (decision.isDryRun ? "dry run, " : "") + decision.answer.text
        let facts = [decision.facts.text, code.map { "refused by the App Store: \($0)" } ?? ""].filter { !$0.isEmpty }
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .refundAnswered, actor: .till, origin: request.origin, app: request.app,
                reference: request.transactionIdentifier, subject: decision.facts.productIdentifier ?? "",
                reason: answer + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")),
            to: owner)
    }
}

extension OpenConsumptionRequest {
    /// The seconds from a purchase to the question.
    fileprivate func age(since purchase: Timestamp) -> Int64 {
        max(0, (signedAt.millisecondsSince1970 - purchase.millisecondsSince1970) / 1000)
    }
}
