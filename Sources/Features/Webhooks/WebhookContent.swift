/// The content of a message in the format of its endpoint.
package enum WebhookContent: Sendable {
    case till(WebhookMessage)
    case revenueCat(RevenueCatEvent)

    /// The type of the message, such as `purchase.granted` or `INITIAL_PURCHASE`.
    package var type: String {
        switch self {
        case .till(let message): message.type.rawValue
        case .revenueCat(let event): event.kind.rawValue
        }
    }

    /// The signed bytes of the message.
    func body() throws -> [UInt8] {
        switch self {
        case .till(let message): try message.body()
        case .revenueCat(let event): Array(event.text.utf8)
        }
    }
}
