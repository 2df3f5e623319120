import ArgumentParser
import Foundation
import Store

/// `till store notifications`
struct StoreNotifications: Command {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "List the notifications and what came of sending them; send one again, or let the next go wrong.")

    @Option(help: ArgumentHelp("Send this one once more.", valueName: "uuid"))
    var replay: String?

    @Option(
        help: ArgumentHelp(
            "What goes wrong with the next notification: duplicate, reorder, drop or delay:SECONDS; may be repeated.",
            valueName: "fault"))
    var fault: [NotificationFault] = []

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        if let replay {
            guard let uuid = UUID(uuidString: replay) else { throw ValidationError("\"\(replay)\" is no UUID.") }
            try store.replay(uuid)
        }
        if !fault.isEmpty { try store.add(fault) }
        let notifications = try store.notifications()
        var table = TextTable(header: ["UUID", "DATE", "TYPE", "SUBTYPE", "TRANSACTION", "SENT"])
        for notification in notifications {
            table.add([
                notification.notificationUUID.uuidString.lowercased(), notification.date.rfc3339,
                notification.type.rawValue, notification.subtype?.rawValue ?? "-",
                notification.transactionIdentifier ?? "-",
                notification.sendAttempts.isEmpty
                    ? "-" : notification.sendAttempts.map(\.result.rawValue).joined(separator: " "),
            ])
        }
        if notifications.isEmpty {
            console.line("There is no notification yet.")
        } else {
            table.lines.forEach(console.line)
        }
        struct Report: Encodable {
            let notificationUUID: String
            let notificationType: String
            let subtype: String?
            let sendAttempts: [String]
        }
        try console.json([
            "notifications": notifications.map {
                Report(
                    notificationUUID: $0.notificationUUID.uuidString.lowercased(), notificationType: $0.type.rawValue,
                    subtype: $0.subtype?.rawValue, sendAttempts: $0.sendAttempts.map(\.result.rawValue))
            }
        ])
    }
}

extension NotificationFault: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }
}
