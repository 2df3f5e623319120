import AppStore
import Proofs
import TestSupport
import Testing

/// What the App Store says about subscriptions, a line each.
struct SubscriptionLines {
    let garden: TestGarden
    /// The words about a subscription: its signed transaction, its status and its signed renewal information.
    let state: (_ sale: String, _ status: String, _ renewal: String) throws -> String

    /// The notifications, after the first `count`.
    func told(after count: Int = 0) throws -> [String] {
        try garden.notifications().dropFirst(count).map { notification in
            guard case .object(let data)? = notification.fields["data"],
                case .string(let sale)? = data["signedTransactionInfo"],
                case .string(let renewal)? = data["signedRenewalInfo"], case .number(let status)? = data["status"]
            else { return "no data" }
            let name = [notification.notificationType, notification.subtype].compactMap(\.self).joined(separator: " ")
            return try "\(Self.day(notification.signedDate)) \(name) | \(state(sale, status.text, renewal))"
        }
    }

    /// The state of the subscription of an account, as the server API answers it.
    func answered(of account: String = "alice") throws -> String {
        let latest = try #require(try garden.store.history(of: account).last)
        let answer = try garden.store.readOrThrow {
            try $0.allSubscriptionStatuses(latest.transactionIdentifier, statuses: [])
        }
        let item = try #require(answer.data.first?.lastTransactions.first)
        return try state(item.signedTransactionInfo, String(item.status.rawValue), item.signedRenewalInfo)
    }

    /// The part of a line after the date and the notification.
    static func state(of line: String?) -> String? {
        line.flatMap { line in line.firstRange(of: " | ").map { String(line[$0.upperBound...]) } }
    }

    static func day(_ date: Timestamp?) -> String { String(date?.rfc3339.prefix(10) ?? "-") }
}
