/// A request to refund a sale, or to request its refund.
public struct RefundRequest: Codable, Sendable {
    public let reason: String?

    public init(reason: String? = nil) {
        self.reason = reason
    }
}
