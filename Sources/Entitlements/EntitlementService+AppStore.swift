import Commerce
import Ledger
import Receipts

/// What the service asks the App Store, and what the App Store asks the service.
extension EntitlementService {
    /// Takes in what the App Store states of a transaction when it is asked, for whoever owns the purchase or is named by its
    /// token, as a notification does; what names nobody waits for whoever hands it in.
    ///
    /// - Parameter renewalInfo: The signed renewal information of the same subscription; nil without one.
    public func receive(statement proof: [UInt8], renewalInfo: [UInt8]? = nil) async throws -> NotificationOutcome {
        let verified = try verify(proof)
        guard let purchases = verified.purchases, let purchase = purchases.first, purchases.count == 1 else {
            throw RedemptionError.notRedeemable
        }
        let renewal = try renewalInfo.map { try self.renewal(in: $0, of: purchase, from: verified.origin) }
        return try await outcome(of: .state(try claims(verified, proof).claim(purchase, renewal: renewal)))
    }

    private func renewal(
        in proof: [UInt8],
        of purchase: ProvenPurchase,
        from origin: Origin
    ) throws(RedemptionError) -> StatedRenewal {
        let verified = try verify(proof)
        guard case .renewalInfo(let content) = verified.content, let renewal = verified.renewal,
            verified.origin == origin,
            content.originalTransactionId.hasSameBytes(as: purchase.originalTransactionIdentifier)
        else { throw .notRedeemable }
        return renewal
    }

    /// Users who have redeemed something, in an order that stays; in PostgreSQL not that in which they came, so
    /// that who comes during a sweep may be left to the next.
    ///
    /// - Parameter number: Only those after the one with this number; 0 for all.
    public func customers(
        after number: Int64,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) async throws -> [Customer] {
        try await ledger.read { try $0.customers(after: number, of: origins, in: app, limit: limit) }
    }

    /// What the App Store waits to hear about customers who want their money back, oldest first. It waits for twelve hours
    /// (App Store Server Notifications, "CONSUMPTION_REQUEST").
    public func openConsumptionRequests(
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) async throws -> [OpenConsumptionRequest] {
        try await ledger.read {
            try $0.openConsumptionRequests(
                since: clock.now().adding(seconds: -12 * 60 * 60), of: origins, in: app, limit: limit)
        }
    }

    /// Has a question that was answered, or that nobody takes an answer to, asked no more.
    public func settle(_ request: OpenConsumptionRequest) async throws {
        try await ledger.write { try $0.settle(request, at: clock.now()) }
    }

    /// Until when a subject was reconciled with the App Store; nil when it never was.
    public func reconciled(_ subject: String) async throws -> Timestamp? {
        try await ledger.read { try $0.reconciled(subject) }
    }

    /// Remembers until when a subject was reconciled.
    public func setReconciled(_ subject: String, until moment: Timestamp) async throws {
        try await ledger.write { try $0.setReconciled(subject, until: moment) }
    }
}
