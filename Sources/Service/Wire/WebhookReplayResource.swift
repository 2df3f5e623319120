/// The result of a replay of failed messages.
public struct WebhookReplayResource: Codable, Sendable {
    /// The number of replayed messages.
    public let replayed: Int

    public init(replayed: Int) {
        self.replayed = replayed
    }
}
