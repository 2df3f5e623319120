import AppStore
import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// The stories of customers.
extension Year {
    /// All entries, oldest first, read in pages.
    func story(of customer: String) async throws -> [StoryEntryResource] {
        var (entries, cursor): ([StoryEntryResource], String?) = ([], nil)
        repeat {
            let query = "pageSize=7" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try await send(.get, "/v1/users/\(customer)/story?\(query)").decoded(
                List<StoryEntryResource>.self)
            entries += page.elements
            cursor = page.nextCursor.flatMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
        } while cursor != nil
        return entries.reversed()
    }

    /// An entry in a line. What other parts of it say, too, is compared with these.
    func storyLine(_ entry: StoryEntryResource) throws -> String {
        guard let notification = entry.notification else { return eventLine(entry) }
        #expect(entry.kind == "notification" && entry.actor == "App Store" && entry.subject == nil)
        #expect(entry.reason == nil && entry.cause == nil && entry.remedy == nil && entry.otherOwner == nil)
        #expect(entry.happenedAt == notification.signedAt && entry.reference == notification.transactionId)
        let type = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        let outcome = notification.outcome
        #expect(entry.text == "Apple notified of \(type): \(outcome).")
        try check(notification)
        var words = [entry.happenedAt, type, notification.transactionId ?? "-", outcome]
        if notification.receivedAt != notification.signedAt { words.append("received \(notification.receivedAt)") }
        return names.shortened(words.joined(separator: " "))
    }

    /// A notification is the one that the store has sent, without the proofs in it.
    private func check(_ notification: StatedNotificationResource) throws {
        let sent = try #require(
            try store.notifications().first {
                $0.notificationUUID.uuidString.lowercased() == notification.notificationUUID.lowercased()
            })
        #expect(notification.origin == .localSandbox)
        #expect(notification.type == sent.type.rawValue && notification.subtype == sent.subtype?.rawValue)
        #expect(notification.transactionId == sent.transactionIdentifier)
        #expect(notification.originalTransactionId == sent.originalTransactionIdentifier)
        #expect(notification.signedAt == sent.date.rfc3339)
        let payload = try #require(sent.signedPayload.split(separator: ".").dropFirst().first)
        let base64 = String(payload).replacing("-", with: "+").replacing("_", with: "/")
        let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        let signed = try JSONDecoder().decode(JSONContent.self, from: try #require(Data(base64Encoded: padded)))
        #expect(notification.content == Self.withoutProofs(signed))
    }

    private static func withoutProofs(_ content: JSONContent) -> JSONContent {
        guard case .object(let members) = content else { return content }
        let kept = members.filter { !["signedTransactionInfo", "signedRenewalInfo"].contains($0.key) }
        return .object(kept.mapValues(withoutProofs))
    }

    private func eventLine(_ entry: StoryEntryResource) -> String {
        #expect(entry.origin == (["itemGiven", "spent"].contains(entry.kind) ? nil : .localSandbox))
        #expect(entry.subject.map { entry.text.contains($0) } ?? false, "\(entry.text)")
        var words = [entry.happenedAt, entry.kind, entry.reference ?? "-", "by", entry.actor + ":", entry.text]
        if let reason = entry.reason { words.append("(\(reason))") }
        if let cause = entry.cause { words.append(cause) }
        if let remedy = entry.remedy { words.append(remedy) }
        if let owner = entry.otherOwner { words.append("[\(owner.issuer)\(owner.name)]") }
        return names.shortened(words.joined(separator: " "))
    }
}
