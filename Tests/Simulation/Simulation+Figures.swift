import AppStore
import Entitlements
import Features
import Ledger
import Proofs

/// The figures of a ledger, compared with the store's books.
extension Simulation {
    /// - Parameter name: Names the ledger in the error.
    func checkFigures(of ledger: Ledger, named name: String) async throws {
        let service = ledger.figures(clock: apps[0].store.clock)
        try await service.sweep()
        try await service.rollUp()
        let (history, first) = (try sales(), CalendarDay(began))
        let books = BookFigures(
            history, graceEnds: try graceEnds(), owners: try owners(in: ledger), from: first, to: service.today)
        // The books have days; `ExpectedFigures` has the figures of months.
        for figure in Figure.allCases where !figure.isOfMonths {
            let expected = books.answer(figure)
            for query in try queries(for: figure, from: first, to: service.today) {
                let answer = try await service.answer(query)
                guard answer.pendingUsers == 0, answer.isBackfilled else {
                    throw SimulationError.broken("\(name): \(answer.pendingUsers) users have no sums")
                }
                let told = BookAnswer(answer, days: books.days)
                if let difference = told.difference(to: expected.answer(to: query)) {
                    throw SimulationError.broken(
                        "\(name): \(figure.rawValue) of \(query.app ?? "all apps") by the books: \(difference); "
                            + (try described(history)))
                }
            }
        }
    }

    /// The queries for a figure of all apps and of each app.
    private func queries(for figure: Figure, from first: CalendarDay, to last: CalendarDay) throws -> [FigureQuery] {
        let groups: [FigureQuery.Group?] = figure == .lifetimeValue ? [.app, nil] : [.product, .app, nil]
        let ofApps = apps.flatMap { app in
            groups.filter { $0 != .app }.map { (app: app.bundleIdentifier as String?, group: $0) }
        }
        return try (groups.map { (nil, $0) } + ofApps).map { app, group in
            try FigureQuery(figure, in: .sandbox, from: first, to: last, group: group, app: app)
        }
    }

    /// The ends of the grace periods, by the transactions before them.
    ///
    /// If the customer turns renewal off after the end of the paid period, or loses it by a refund that is reversed, the App
    /// Store states that there is no grace period.
    func graceEnds() throws -> [TransactionKey: Timestamp] {
        var ends: [TransactionKey: Timestamp] = [:]
        for app in apps {
            for notification in try app.store.notifications() {
                guard let transaction = notification.transactionIdentifier.map(app.key) else { continue }
                switch (notification.type, notification.subtype) {
                case (.didFailToRenew, .gracePeriod):
                    ends[transaction] = try renewal(in: notification, of: app)?.facts.date(.gracePeriodExpiresDate)
                case (.expired, .voluntary), (.refundReversed, _):
                    guard ends[transaction] != nil else { continue }
                    let intent = try renewal(in: notification, of: app)?.facts.integer(.expirationIntent)
                    if intent == Int64(ExpirationIntent.customerCancelled.rawValue) {
                        ends[transaction] = nil
                    }
                default: break
                }
            }
        }
        return ends
    }

    private func renewal(
        in notification: StoreNotification,
        of app: SimulatedApp
    ) throws -> JWSRenewalInfoDecodedPayload? {
        guard case .notification(let payload) = try app.garden.verify(notification.signedPayload),
            case .object(let data)? = payload.fields["data"], case .string(let renewal)? = data["signedRenewalInfo"]
        else { return nil }
        return try app.garden.renewalInfo(renewal)
    }

    private func described(_ history: [SimulatedSale]) throws -> String {
        let lines = history.map(\.description).joined(separator: "\n")
        return "the stores have sold\n\(lines)\nwith grace periods until \(try graceEnds())"
    }
}
