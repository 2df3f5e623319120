import AppStoreClient
import Catalog
import Commerce
import Entitlements
import Foundation
import HTTPSupport
import Ledger

/// Asks the App Store what was missed, and applies it: Apple gives up on a notification after a while, and an app may never
/// come to hand in what it has.
///
/// Everything is verified as if Apple had sent it or the app had handed it in, so asking again changes nothing twice.
public struct Reconciler: Sendable {
    /// How many customers are read from the ledger at once.
    private static let pageSize = 100
    /// How many days of notifications are asked for at first.
    private static let firstDays: Int64 = 30
    /// How far before the last time it is asked again, in seconds: the App Store may learn late of what happened, and its
    /// clock may differ.
    private static let overlap: Int64 = 60 * 60

    /// After how many customers in a row whom the App Store does not tell of the others are left for later.
    private static let maximumFailures = 10

    private let service: EntitlementService
    private let app: App
    private let client: AppStoreServerClient
    private let origins: Set<Origin>
    private let clock: any WallClock

    /// - Parameters:
    ///   - app: The app of the client's key.
    ///   - origins: Whose purchases the App Store at the client's address knows.
    public init(
        service: EntitlementService,
        app: App,
        client: AppStoreServerClient,
        origins: Set<Origin>,
        clock: any WallClock
    ) {
        self.service = service
        self.app = app
        self.client = client
        self.origins = origins
        self.clock = clock
    }

    /// What became of everything that was told, each by how often.
    public struct Report: Sendable, Encodable {
        /// By outcome (`granted`, `duplicate`, …), or by the code of a refusal.
        public var outcomes: [String: Int] = [:]

        mutating func count(_ outcome: String) { outcomes[outcome, default: 0] += 1 }

        /// - Throws: `ReconciliationError`, `refusedHere`: then not all was taken in that the App Store has told.
        func check() throws(ReconciliationError) {
            if let code = outcomes.keys.sorted().first(where: Problem.codesForTheOperatorToMend.contains) {
                throw .refusedHere(code: code)
            }
        }
    }

    /// Takes in the notifications of a time, as far as the App Store has them.
    ///
    /// - Parameter days: How many; nil for all since the last time.
    /// - Throws: `ReconciliationError`, `StorageFault`. What was applied before stays.
    public func takeInNotifications(days: Int64? = nil) async throws -> Report {
        let now = clock.now()
        let subject = subject("notifications")
        let last = try await service.reconciled(subject)
        let oldest = now.adding(days: -(days ?? maximumDays)).adding(seconds: 60)
        var start = oldest
        if days == nil {
            start = max(oldest, last?.adding(seconds: -Self.overlap) ?? now.adding(days: -Self.firstDays))
        }
        let report = try await takeInNotifications(from: start, until: now.adding(seconds: 60))
        try report.check()
        // By hand, what lies between the last time and this one may not have been asked for.
        guard days == nil || last.map({ start <= $0 }) ?? false else { return report }
        try await service.setReconciled(subject, until: now)
        return report
    }

    /// How far back the App Store remembers its notifications, in days (App Store Server API, "Get Notification History").
    private var maximumDays: Int64 { origins.contains(.appleProduction) ? 180 : 30 }

    private func takeInNotifications(from start: Timestamp, until end: Timestamp) async throws -> Report {
        var report = Report()
        var paginationToken: String?
        while true {
            let page = try await client.notificationHistory(from: start, until: end, paginationToken: paginationToken)
            for item in page.notificationHistory {
                report.count(
                    try await outcome {
                        try await service.receive(notification: Array(item.signedPayload.utf8)).rawValue
                    })
            }
            guard page.hasMore, let next = page.paginationToken, next != paginationToken else { return report }
            paginationToken = next
        }
    }

    /// When the histories of all customers were taken in; nil before the first time.
    func lastHistories() async throws -> Timestamp? {
        try await service.reconciled(historiesSubject)
    }

    private var historiesSubject: String { subject("histories") }

    /// The name under which the ledger keeps the last time. That of the first app does not name it, so that a service which
    /// becomes one of several apps goes on where it was.
    private func subject(_ name: String) -> String {
        let isFirst = app.bundleIdentifier == service.apps.first.bundleIdentifier
        return "\(name) of \(client.url.absoluteString)" + (isFirst ? "" : " for \(app.bundleIdentifier)")
    }

    /// Takes in all transactions of every customer whom the ledger knows (purchases, renewals and refunds), and how their
    /// subscriptions renew. As with
    /// notifications, each is for whoever owns the purchase, or is named by its token; what names nobody waits for whoever
    /// hands it in.
    ///
    /// A customer whom the App Store does not tell of is counted by the code of the refusal, and the others go on.
    ///
    /// - Throws: `ReconciliationError`, `StorageFault`. What was applied before stays.
    public func takeInHistories() async throws -> Report {
        let now = clock.now()
        var report = Report()
        var last: Int64 = 0
        var failures = 0
        while true {
            let customers = try await service.customers(
                after: last, of: origins, in: app.bundleIdentifier, limit: Self.pageSize)
            for customer in customers {
                do {
                    try await takeInHistory(of: customer, into: &report)
                    failures = 0
                } catch let error as ReconciliationError {
                    failures += 1
                    guard error.isAboutOneRequest, failures < Self.maximumFailures || error.isFinal else { throw error }
                    report.count(error.code)
                }
            }
            guard let number = customers.last?.number else { break }
            last = number
        }
        try report.check()
        try await service.setReconciled(historiesSubject, until: now)
        return report
    }

    private func takeInHistory(of customer: Customer, into report: inout Report) async throws {
        var revision: String?
        while true {
            let page = try await client.transactionHistory(of: customer.transactionIdentifier, revision: revision)
            for signed in page.signedTransactions {
                report.count(
                    try await outcome { try await service.receive(statement: Array(signed.utf8)).rawValue })
            }
            guard page.hasMore, let next = page.revision, next != revision else { break }
            revision = next
        }
        try await takeInStatuses(of: customer, into: &report)
    }

    /// Takes in how the subscriptions of a customer renew, which their transactions do not say.
    private func takeInStatuses(of customer: Customer, into report: inout Report) async throws {
        guard try await !service.subscriptions(of: customer.user).isEmpty else { return }
        let statuses = try await client.subscriptionStatuses(of: customer.transactionIdentifier)
        for last in statuses.data.flatMap(\.lastTransactions) {
            guard let transaction = last.signedTransactionInfo, let renewalInfo = last.signedRenewalInfo else {
                continue
            }
            report.count(
                try await outcome {
                    try await service.receive(
                        statement: Array(transaction.utf8), renewalInfo: Array(renewalInfo.utf8)
                    ).rawValue
                })
        }
    }

    /// What one proof comes to; a refusal by its code, and only the ledger's own failure ends it all.
    private func outcome(_ body: () async throws -> String) async throws -> String {
        do {
            return try await body()
        } catch let error as RedemptionError {
            return error.code
        }
    }
}
