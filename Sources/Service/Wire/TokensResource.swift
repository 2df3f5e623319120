/// The tokens of a session.
package struct TokensResource: Codable, Sendable {
    package let accessToken: String
    /// Dates are RFC 3339, UTC.
    let accessTokenExpiresAt: String
    package let refreshToken: String
    let refreshTokenExpiresAt: String
}
