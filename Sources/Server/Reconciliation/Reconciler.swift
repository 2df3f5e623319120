import Commerce
import Entitlements
import Foundation

/// Asks the App Store what was missed, and applies it: Apple gives up on a notification after a while, and an app may never
/// come to hand in what it has.
///
/// Everything is verified as if Apple had sent it or the app had handed it in, so asking again changes nothing twice.
public struct Reconciler: Sendable {
    /// How many customers are read from the ledger at once.
    private static let pageSize = 100

    private let service: EntitlementService
    private let client: AppStoreServerClient
    private let work = BlockingWork()

    public init(service: EntitlementService, client: AppStoreServerClient) {
        self.service = service
        self.client = client
    }

    /// What became of everything that was told, each by how often.
    public struct Report: Sendable, Encodable {
        /// By outcome (`granted`, `duplicate`, …), or by the code of a refusal.
        public var outcomes: [String: Int] = [:]

        mutating func count(_ outcome: String) { outcomes[outcome, default: 0] += 1 }
    }

    /// Takes in the notifications of a time, as far as the App Store has them.
    public func takeInNotifications(from start: Timestamp, until end: Timestamp) async throws -> Report {
        var report = Report()
        var paginationToken: String?
        while true {
            let page = try await client.notificationHistory(
                from: start, until: end, paginationToken: paginationToken)
            for item in page.notificationHistory {
                report.count(
                    try await outcome { try service.receive(notification: Array(item.signedPayload.utf8)).rawValue })
            }
            guard page.hasMore, let next = page.paginationToken else { return report }
            paginationToken = next
        }
    }

    /// Takes in all transactions of every customer whom the ledger knows: purchases, renewals and refunds.
    public func takeInHistories() async throws -> Report {
        var report = Report()
        var last: Int64 = 0
        while true {
            let customers = try await work.run { [service, last] in
                try service.customers(after: last, limit: Self.pageSize)
            }
            for customer in customers {
                var revision: String?
                while true {
                    let page = try await client.transactionHistory(
                        of: customer.transactionIdentifier, revision: revision)
                    for signed in page.signedTransactions {
                        report.count(
                            try await outcome {
                                try service.redeem(Array(signed.utf8), for: customer.user).outcome.rawValue
                            })
                    }
                    guard page.hasMore, let next = page.revision, next != revision else { break }
                    revision = next
                }
            }
            guard let number = customers.last?.number else { return report }
            last = number
        }
    }

    /// What one proof comes to; a refusal by its code, and only the ledger's own failure ends it all.
    private func outcome(_ body: @Sendable @escaping () throws -> String) async throws -> String {
        do {
            return try await work.run(body)
        } catch let error as RedemptionError {
            if case .storage(let fault) = error { throw fault }
            return error.code
        }
    }
}
