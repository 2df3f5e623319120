/// A request to refund a sale, or to request its refund.
struct RefundRequest: Codable, Sendable {
    var reason: String?
}
