/// The new tokens of a renewed session.
public struct RenewalResource: Codable, Sendable {
    public let tokens: TokensResource

    public init(tokens: TokensResource) {
        self.tokens = tokens
    }
}
