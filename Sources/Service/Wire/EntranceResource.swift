/// The account and the new session after a sign-up or login.
public struct EntranceResource: Codable, Sendable {
    public let account: AccountResource
    public let tokens: TokensResource

    public init(account: AccountResource, tokens: TokensResource) {
        self.account = account
        self.tokens = tokens
    }
}
