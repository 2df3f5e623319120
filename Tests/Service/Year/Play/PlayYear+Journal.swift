import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// The journal of the year: a line for each thing that happens, in the order of time, in the form of the App Store's years.
///
/// `state` is the answer of `purchases.subscriptionsv2.get`, without its `kind`. A purchase token is named by its place among anna's
/// purchases (`token.1`), and so is an order (`order.1`, whose renewals are `order.1..0` and so on).
extension PlayYear {
    /// Writes the notifications that are new.
    ///
    /// - Returns: True if there are any.
    func tellNotifications() throws -> Bool {
        let sent = try fixture.play.perform { [lastNotification] in try $0.notifications(after: lastNotification) }
        for queued in sent {
            lastNotification = queued.number
            var words: [String] = []
            if let notification = queued.notification.subscriptionNotification {
                let type = notification.notificationType.flatMap(SubscriptionNotificationType.init)
                words = [
                    type.map { "\($0)" } ?? "-", notification.purchaseToken ?? "-", notification.subscriptionId ?? "-",
                ]
            } else if let voided = queued.notification.voidedPurchaseNotification {
                words = ["voided", voided.purchaseToken ?? "-", voided.orderId ?? "-"]
                words.append("product type \(voided.productType ?? 0), refund type \(voided.refundType ?? 0)")
            }
            if queued.nextAttempt != nil { words.append("not delivered") }
            add("notification", words.joined(separator: " "), at: queued.date.rfc3339)
        }
        return !sent.isEmpty
    }

    /// Writes the states, the story, the items and the subscriptions that are new.
    func tell() async throws {
        for (index, number) in purchases.enumerated() {
            try tellChange("state token.\(index + 1):", try state(of: number))
        }
        try await tellStory()
        try tellChange("items \(Self.customer):", try await items())
        try tellChange("subscriptions \(Self.customer):", try await subscriptions())
    }

    /// The state of a purchase, as the API answers it.
    private func state(of number: Int64) throws -> String {
        let stated = try fixture.play.perform { books in
            try books.subscription(number).subscriptionPurchase(at: books.now)
        }
        let content = try JSONDecoder().decode(JSONContent.self, from: try JSONEncoder().encode(stated))
        guard case .object(var members) = content else { return "-" }
        members["kind"] = nil
        return Year.line(.object(members))
    }

    private func tellStory() async throws {
        // Nobody knows anna before her first purchase.
        guard !purchases.isEmpty else { return }
        let page = try await send(.get, "/v1/users/\(Self.customer)/story?pageSize=100").decoded(
            List<StoryEntryResource>.self)
        for entry in page.elements.reversed() {
            let notification = entry.notification
            var words = [entry.kind, entry.reference, "by", entry.actor + ":", entry.text, entry.origin?.rawValue]
            words += [entry.reason.map { "(\($0))" }, entry.cause, entry.remedy, notification?.outcome]
            let text = words.compactMap(\.self).joined(separator: " ")
            let identity = "\(entry.happenedAt) \(text) \(notification?.notificationUUID ?? "")"
            guard entries.insert(identity).inserted else { continue }
            add("story \(Self.customer):", text, at: entry.happenedAt)
        }
    }

    func ownedItems() async throws -> [OwnedItemResource] {
        try await send(.get, "/v1/users/\(Self.customer)/items").decoded(List<OwnedItemResource>.self).elements
    }

    func items() async throws -> String { names.shortened(Year.words(try await ownedItems())) }

    func subscriptions() async throws -> String {
        let answer = try await send(.get, "/v1/users/\(Self.customer)/subscriptions")
        return names.shortened(Year.words(try answer.decoded(List<UserSubscriptionResource>.self).elements))
    }

    /// The transactions of anna, the oldest first.
    func transactions() async throws -> [String] {
        let answer = try await send(.get, "/v1/users/\(Self.customer)/transactions")
        return try answer.decoded(List<TransactionResource>.self).elements.reversed().map { transaction in
            names.shortened(
                [
                    transaction.transactionId, transaction.originalTransactionId, transaction.productId,
                    transaction.purchaseDate, transaction.expiresDate ?? "-", transaction.revocationDate ?? "-",
                ].joined(separator: " "))
        }
    }

    /// All figures by month.
    func figures() async throws -> [String] {
        try await fixture.figures.sweep()
        try await fixture.figures.rollUp()
        var lines: [String] = []
        for figure in Figure.allCases {
            let query = "by=month&from=2027-01-01&to=2027-12-31&environment=production"
            let answer = try await send(.get, "/v1/figures/\(figure.rawValue)?\(query)").decoded(
                FigureAnswerResource.self)
            #expect(answer.figure == figure.rawValue && answer.environment == "production")
            lines += try Year.lines(answer).map { names.shortened("figure \($0)") }
        }
        return lines
    }

    /// Writes a line about a subject if it is not as in its last line.
    private func tellChange(_ subject: String, _ text: String) throws {
        let text = names.shortened(text)
        guard last[subject] ?? "none" != text else { return }
        last[subject] = text
        add(subject, text, at: now.rfc3339)
    }

    private func add(_ kind: String, _ text: String, at date: String) {
        lines.append(names.shortened("\(date) \(kind) \(text)"))
    }
}
