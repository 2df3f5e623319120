import Commerce
import Entitlements
import Figures
import Ledger
import Receipts
import Store

/// The figures of a ledger, compared with the store's books.
extension Simulation {
    /// - Parameter name: Names the ledger in the error.
    func checkFigures(of ledger: Ledger, named name: String) async throws {
        let service = FigureService(ledger: ledger, clock: garden.store.clock)
        try await service.sweep()
        try await service.rollUp()
        let (history, first) = (try sales(), CalendarDay(began))
        let books = BookFigures(
            history, graceEnds: try graceEnds(), owners: try owners(in: ledger), from: first, to: service.today)
        for figure in Figure.allCases {
            let expected = books.answer(figure)
            for (group, expected) in [(FigureQuery.Group.product, expected), (nil, expected.ofAllProducts)] {
                let query = try FigureQuery(
                    figure, in: .sandbox, from: first, to: service.today, group: group)
                let answer = try await service.answer(query)
                guard answer.pendingUsers == 0, answer.isBackfilled else {
                    throw SimulationError.broken("\(name): \(answer.pendingUsers) users have no sums")
                }
                if let difference = BookAnswer(answer, days: books.days).difference(to: expected) {
                    throw SimulationError.broken(
                        "\(name): \(figure.rawValue) by the books: \(difference); \(try described(history))")
                }
            }
        }
    }

    /// The ends of the grace periods, by the transactions before them.
    ///
    /// If the customer turns renewal off after the end of the paid period, or loses it by a refund that is reversed, the App
    /// Store states that there is no grace period.
    func graceEnds() throws -> [String: Timestamp] {
        var ends: [String: Timestamp] = [:]
        for notification in try garden.store.notifications() {
            guard let transaction = notification.transactionIdentifier else { continue }
            switch (notification.type, notification.subtype) {
            case (.didFailToRenew, .gracePeriod):
                ends[transaction] = try renewal(in: notification)?.gracePeriodExpiresDate
            case (.expired, .voluntary), (.refundReversed, _):
                guard ends[transaction] != nil else { continue }
                if try renewal(in: notification)?.expirationIntent == .known(.customerCancelled) {
                    ends[transaction] = nil
                }
            default: break
            }
        }
        return ends
    }

    private func renewal(in notification: StoreNotification) throws -> JWSRenewalInfoDecodedPayload? {
        guard case .notification(let payload) = try garden.verify(notification.signedPayload),
            case .data(let data) = payload.body
        else { return nil }
        return try data.signedRenewalInfo.map { try garden.renewalInfo($0) }
    }

    private func described(_ history: [Transaction]) throws -> String {
        let lines = history.map { sale in
            "\(sale.transactionIdentifier) of \(sale.originalTransactionIdentifier) \(sale.productIdentifier) "
                + "\(sale.price.milliunits) \(sale.price.currency) \(sale.purchaseDate.rfc3339) to "
                + "\(sale.expiresDate?.rfc3339 ?? "-") \(sale.isTrial ? "trial " : "")"
                + (sale.revocation.map { "revoked \($0.date.rfc3339)" } ?? "")
        }
        return "the store has sold\n\(lines.joined(separator: "\n"))\nwith grace periods until \(try graceEnds())"
    }
}
