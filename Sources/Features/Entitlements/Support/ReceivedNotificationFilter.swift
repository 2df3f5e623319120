/// The conditions of a list of received notifications. Nil accepts every value.
public struct ReceivedNotificationFilter: Hashable, Sendable {
    /// The type, in Apple's words.
    public let type: String?
    public let outcome: NotificationOutcome?
    /// The bundle identifier of the app.
    public let app: String?

    public init(type: String? = nil, outcome: NotificationOutcome? = nil, app: String? = nil) {
        self.type = type
        self.outcome = outcome
        self.app = app
    }
}
