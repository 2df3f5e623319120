/// The new tokens of a renewed session.
package struct RenewalResource: Codable, Sendable {
    package let tokens: TokensResource
}
