/// The conditions of a list of received notifications. Nil accepts every value.
package struct ReceivedNotificationFilter: Hashable, Sendable {
    /// The type, in Apple's words.
    package let type: String?
    package let outcome: NotificationOutcome?
    /// The bundle identifier of the app.
    package let app: String?

    package init(type: String? = nil, outcome: NotificationOutcome? = nil, app: String? = nil) {
        self.type = type
        self.outcome = outcome
        self.app = app
    }
}
