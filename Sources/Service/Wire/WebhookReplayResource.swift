/// The result of a replay of failed messages.
struct WebhookReplayResource: Codable, Sendable {
    /// The number of replayed messages.
    let replayed: Int
}
