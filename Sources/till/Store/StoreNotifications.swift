import AppStore
import ArgumentParser
import Foundation

/// `till store notifications`
struct StoreNotifications: Command {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "List the notifications and their deliveries; send one again, or disturb the next ones.",
        discussion: """
            Examples:
              till store notifications
              till store notifications --replay 6f9619ff-8b86-d011-b42d-00c04fc964ff
              till store notifications --fault duplicate --fault delay:30
            """)

    @Option(help: ArgumentHelp("Send this notification again.", valueName: "uuid"))
    var replay: String?

    @Option(
        help: ArgumentHelp(
            "A fault of the next notification: duplicate, reorder, drop or delay:SECONDS; may be repeated.",
            valueName: "fault"))
    var fault: [NotificationFault] = []

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        if let replay {
            guard let uuid = UUID(uuidString: replay) else {
                throw ValidationError("--replay must be a UUID; it is \"\(replay.prefix(64))\".")
            }
            try store.replay(uuid)
            terminal.line("Notification \(uuid.uuidString.lowercased()) is queued to be sent again.")
        }
        if !fault.isEmpty {
            try store.add(fault)
            terminal.line("The faults of the next notifications: \(fault.map(\.name).joined(separator: ", ")).")
        }
        if replay != nil, try store.settings().notificationsURL == nil {
            terminal.note(
                "Notifications have no address: set one with "
                    + common.hint("store", "settings", "--notifications-url", "URL") + ".")
        }
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
            terminal.line("No notifications.")
        } else {
            table.lines.forEach(terminal.line)
        }
        struct Report: Encodable {
            let notifications: [NotificationResource]
            let replayed: String?
            let faults: [String]?
        }
        try terminal.json(
            Report(
                notifications: notifications.map { NotificationResource($0) }, replayed: replay?.lowercased(),
                faults: fault.isEmpty ? nil : fault.map(\.name)))
    }
}

extension NotificationFault: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(name: argument)
    }
}
