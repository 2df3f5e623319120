/// The account and the new session of a user who signed up or logged in.
public struct EntranceResource: Codable, Sendable {
    public let account: AccountResource
    public let tokens: TokensResource

    public init(account: AccountResource, tokens: TokensResource) {
        self.account = account
        self.tokens = tokens
    }
}
