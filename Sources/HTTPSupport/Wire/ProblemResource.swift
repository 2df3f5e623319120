/// A problem document (RFC 9457) with Till's stable code.
package struct ProblemResource: Codable, Sendable {
    /// The address of the code's explanation, relative to the request's address.
    package let type: String
    package let title: String
    /// The HTTP status.
    package let status: Int
    package let code: String
    package let detail: String
    /// True if the same request may succeed later without a change.
    package let couldSucceedLater: Bool
}
