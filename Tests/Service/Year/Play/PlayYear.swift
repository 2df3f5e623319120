import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import NIOCore
import PlayStore
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The year 2027 of anna's subscriptions on Google Play, day by day, each at noon: the Play lets happen what is due, its notifications
/// go to the service, anna does what the script says, her app presents the tokens of her purchases, and the service acknowledges them.
actor PlayYear {
    /// The way in which the service learns of what happens at the Play.
    enum Knowledge: Sendable {
        /// The Play pushes its notifications.
        case notified
        /// No notification arrives. The service asks, as its schedule does.
        case asking
    }

    static let customer = "anna"
    private static let milliseconds: Int64 = 86_400_000

    let fixture: PlayYearFixture
    private let client: TestClient
    private let knowledge: Knowledge
    /// The numbers of anna's purchases in the Play's list, in their order.
    private(set) var purchases: [Int64] = []
    /// Names for what has a random identifier.
    var names = YearNames()
    /// The lines so far.
    var lines: [String] = []
    /// The last line about each subject that changes.
    var last: [String: String] = [:]
    /// The entries of the story that the lines have.
    var entries: Set<String> = []
    /// The number of the last notification that the lines have.
    var lastNotification: Int64 = 0

    private init(_ fixture: PlayYearFixture, _ client: TestClient, _ knowledge: Knowledge) {
        (self.fixture, self.client, self.knowledge) = (fixture, client, knowledge)
    }

    /// Plays the year with notifications.
    ///
    /// - Returns: The lines of its journal.
    static func journal() async throws -> [String] {
        try await played(.notified) { year in
            try await year.expectNotifications()
            let figures = try await year.figures()
            for sum in sums { #expect(figures.contains("figure \(sum)"), "\(sum) of \(figures)") }
            return await year.lines + figures
        }
    }

    /// Plays the year.
    ///
    /// - Returns: What anna has in the end, the transactions of the year, and the figures.
    static func end(_ knowledge: Knowledge) async throws -> [String] {
        try await played(knowledge) { year in
            try await year.transactions() + [year.items(), year.subscriptions()] + year.figures()
        }
    }

    private static func played(
        _ knowledge: Knowledge, _ body: @Sendable @escaping (PlayYear) async throws -> [String]
    ) async throws -> [String] {
        try await PlayYearFixture.run(notifies: knowledge == .notified) { fixture, client in
            let year = PlayYear(fixture, client, knowledge)
            try await year.live()
            return try await body(year)
        }
    }

    var now: Timestamp { fixture.clock.now() }

    /// The day and the month: `01-31`.
    var date: String { String(now.rfc3339.dropFirst(5).prefix(5)) }

    private func live() async throws {
        names.add(String(fixture.key.split(separator: "_")[1]), as: "tests")
        // The first day of the next year completes December.
        for day in 0...365 {
            if day > 0 { fixture.clock.advance(milliseconds: Self.milliseconds) }
            let isLastOfMonth = now.adding(days: 1).dayOfMonth == 1
            try await hear()
            let hasNews = try tellNotifications()
            if hasNews || isLastOfMonth { try await tell() }
            for event in Self.events[date] ?? [] {
                lines.append("\(date) > \(event)")
                try await perform(event)
                try await hear()
                _ = try tellNotifications()
                try await tell()
            }
            if knowledge == .notified { try await expectPossessions() }
            if isLastOfMonth { try await fixture.figures.rollUp() }
        }
    }

    /// Lets happen what is due, and tells the service.
    private func hear() async throws {
        let isDue = try fixture.play.perform { try !$0.dueNotifications(limit: 1).isEmpty }
        switch knowledge {
        case .notified: if isDue { try await fixture.play.sendDueNotifications(logger: ServiceFixture.logger) }
        case .asking:
            _ = try await fixture.reconciler.recordSilentPurchases()
            _ = try await fixture.reconciler.recordVoidedPurchases()
        }
        try await fixture.acknowledge()
        try await fixture.service.recordDueStates()
    }

    private func perform(_ event: PlayYearEvent) async throws {
        switch event {
        case .subscribes(let product, let offer, let mode):
            try await subscribe(product, offer: offer, mode)
        case .performs(let action):
            let number = try #require(purchases.last)
            _ = try fixture.play.perform { try $0.perform(action, on: number) }
        case .raisesPrice(let price): try fixture.raisePremiumPrice(to: price)
        }
    }

    /// Anna subscribes, and her app presents the token.
    private func subscribe(_ product: String, offer: String?, _ mode: ReplacementMode?) async throws {
        var order = fixture.order(product, by: Self.customer)
        if mode != nil { (order.replacedNumber, order.replacementMode) = (purchases.last, mode) }
        let bought = try fixture.play.perform { [order] in try $0.subscribe(order, offerId: offer) }
        purchases.append(bought.number)
        names.add(bought.token, as: "token.\(purchases.count)")
        let name = try await fixture.service.ledger.tokenNames.name(of: bought.token)
        names.add(name, as: "name.\(purchases.count)")
        names.add(try #require(bought.periods.first).orderId, as: "order.\(purchases.count)")
        let path = "/v1/users/\(Self.customer)/transactions"
        let redeemed = try await send(.post, path, body: #"{"purchaseToken":"\#(bought.token)"}"#)
        let outcome = try redeemed.decoded(Redemption.self).outcome
        #expect(outcome == .granted)
        try await fixture.acknowledge()
        let isAcknowledged = try fixture.play.perform { try $0.subscription(bought.number).isAcknowledged }
        #expect(isAcknowledged)
    }

    /// Sends a request of the back end over the connection, and expects an answer.
    func send(
        _ method: HTTPRequest.Method, _ path: String, body: String? = nil
    ) async throws -> ServiceFixture.Answer {
        let response = try await client.executeRequest(
            uri: path, method: method, headers: [.authorization: "Bearer \(fixture.key)"],
            body: body.map { ByteBuffer(string: $0) })
        let answer = ServiceFixture.Answer(
            status: response.status.code, headers: response.headers, body: .init(response.body.readableBytesView))
        #expect(answer.status == 200, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        return answer
    }

    /// Anna owns what the script has to bring about, and what she has is acknowledged.
    private func expectPossessions() async throws {
        let date = date
        let owned = try await ownedItems().filter { $0.number > 0 }.map { item in
            names.shortened("\(item.item.description) until \(item.until ?? "-")")
        }
        let expected = Self.possessions.last { $0.day <= date }?.items
        #expect(owned == expected, "\(date)")
    }

    private func expectNotifications() throws {
        let sent = try fixture.play.perform { try $0.notifications(after: 0) }
        #expect(sent.allSatisfy { $0.attempts == 1 && $0.nextAttempt == nil })
        let told = sent.map { sent in
            let type = sent.notification.subscriptionNotification?.notificationType
            let name = type.flatMap(SubscriptionNotificationType.init).map { "\($0)" } ?? "voided"
            return "\(sent.date.rfc3339.dropFirst(5).prefix(5)) \(name)"
        }
        #expect(told == Self.notifications)
    }
}
