import Commerce
import Ledger

/// What the service asks the App Store, and what the App Store asks the service.
extension EntitlementService {
    /// Users who have redeemed something, in an order that stays; in PostgreSQL not that in which they came, so
    /// that who comes during a sweep may be left to the next.
    ///
    /// - Parameter number: Only those after the one with this number; 0 for all.
    public func customers(
        after number: Int64,
        of origins: Set<Origin>,
        limit: Int
    ) async throws -> [Customer] {
        try await ledger.read { try $0.customers(after: number, of: origins, limit: limit) }
    }

    /// What the App Store waits to hear about customers who want their money back, oldest first. It waits for twelve hours
    /// (App Store Server Notifications, "CONSUMPTION_REQUEST").
    public func openConsumptionRequests(
        of origins: Set<Origin>,
        limit: Int
    ) async throws -> [OpenConsumptionRequest] {
        try await ledger.read {
            try $0.openConsumptionRequests(since: clock.now().adding(seconds: -12 * 60 * 60), of: origins, limit: limit)
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
