/// The account and the new session after a sign-up or login.
package struct EntranceResource: Codable, Sendable {
    package let account: AccountResource
    package let tokens: TokensResource
}
