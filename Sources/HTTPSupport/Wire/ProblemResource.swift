/// A problem document (RFC 9457) with Till's stable code.
public struct ProblemResource: Codable, Sendable {
    /// The address of the code's explanation, relative to the request's address.
    public let type: String
    public let title: String
    /// The HTTP status.
    public let status: Int
    public let code: String
    public let detail: String
    /// True if the same request may succeed later without a change.
    public let couldSucceedLater: Bool

    public init(type: String, title: String, status: Int, code: String, detail: String, couldSucceedLater: Bool) {
        self.type = type
        self.title = title
        self.status = status
        self.code = code
        self.detail = detail
        self.couldSucceedLater = couldSucceedLater
    }
}
