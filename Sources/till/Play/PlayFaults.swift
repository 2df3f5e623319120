import ArgumentParser
import HTTPSupport
import PlayStore
import Proofs

struct PlayNotifications: Command {
    static let configuration = CommandConfiguration(
        "notifications",
        "List the real-time developer notifications, newest first; send one again, or disturb the next ones.",
        "A delay follows the Play's clock. A duplicate and a replay have the number of the first message, as Pub/Sub's have.",
        examples: """
            till play notifications
            till play notifications --replay 12
            till play notifications --fault duplicate --fault delay:30
            """)

    @Option(help: .value("number", "The notification to send again."))
    var replay: Int64?

    @Option(
        help: .value(
            "fault", "A fault of the next notification: duplicate, reorder, drop or delay:SECONDS; may be repeated."))
    var fault: [NotificationFault] = []

    @Flag(help: "Clear the faults of the next notifications (and calls).")
    var clearFaults = false

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let notifications = try common.existingPlay.perform { books in
            if clearFaults { try books.clearFaults() }
            if let replay { try books.replay(replay) }
            try books.add(fault)
            return try books.notifications()
        }
        if clearFaults { terminal.line("The next notifications and calls have no faults of before.") }
        if let replay { terminal.line("Notification \(replay) is queued to be sent again.") }
        if !fault.isEmpty {
            terminal.line("The faults of the next notifications: \(fault.map(\.name).joined(separator: ", ")).")
        }
        terminal.table(
            ["ID", "DATE", "TYPE", "ATTEMPTS", "STATE"],
            notifications.map {
                [
                    String($0.number), $0.date.rfc3339, $0.notification.words, String($0.attempts),
                    $0.nextAttempt != nil ? "due" : $0.attempts > 0 ? "delivered" : "not sent",
                ]
            }, orElse: "No notifications.")
        try terminal.json(["notifications": notifications.map(\.notification)])
    }
}

extension DeveloperNotification {
    /// The kind with its number: `subscription 4`.
    fileprivate var words: String {
        if let type = subscriptionNotification?.notificationType { return "subscription \(type)" }
        if let type = oneTimeProductNotification?.notificationType { return "one-time product \(type)" }
        if pendingRefundReviewNotification != nil { return "refund review" }
        return voidedPurchaseNotification != nil ? "voided purchase" : "test"
    }
}

struct PlayFail: Command {
    static let configuration = CommandConfiguration(
        "fail", "Let the next calls of the Play Developer API fail, and list such faults.",
        """
        The reason is one of Google's, such as backendError, concurrentUpdate, purchaseTokenNoLongerValid or rateLimitExceeded. \
        Google's clients repeat a call after an answer with the status 401 by themselves.
        """,
        examples: """
            till play fail backendError
            till play fail backendError --status 503 --calls 3
            till play fail backendError --method purchases.subscriptionsv2.get
            till play fail concurrentUpdate --after
            till play fail --clear
            """)

    @Argument(help: "The reason of the error. Without one, the faults are listed.")
    var reason: String?

    @Option(help: .value("name", "The method, such as purchases.subscriptionsv2.get (default: each)."))
    var method: String?

    @Option(help: .value("token", "The purchase token of the calls (default: any)."))
    var token: String?

    @Option(help: .value("number", "The status (default: Google's for the reason)."))
    var status: Int?

    @Option(help: "The number of calls that fail.")
    var calls = 1

    @Flag(help: "Fail after the work is done, as if the answer were lost.")
    var after = false

    @Flag(help: "Clear the faults of the next calls and notifications.")
    var clear = false

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let faults = try common.existingPlay.perform { books in
            if clear { try books.clearFaults() }
            if let reason {
                var fault = CallFault(reason: reason)
                (fault.method, fault.token, fault.status) = (method, token, status)
                (fault.calls, fault.isAfterwards) = (calls, after)
                try books.add(fault)
            }
            return try books.callFaults()
        }
        terminal.table(
            ["REASON", "STATUS", "METHOD", "CALLS", "WHEN"],
            faults.map {
                [
                    $0.reason, $0.status.map(String.init), $0.method, String($0.calls),
                    $0.isAfterwards ? "after the work" : "before it",
                ]
            }, orElse: "No faults.")
        try terminal.json(["calls": faults])
    }
}
