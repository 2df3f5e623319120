import Features
import Proofs

extension TokensResource {
    init(_ tokens: SessionTokens) {
        self.init(
            accessToken: tokens.access.text, accessTokenExpiresAt: tokens.access.endsAt.rfc3339,
            refreshToken: tokens.refresh.text, refreshTokenExpiresAt: tokens.refresh.endsAt.rfc3339)
    }
}
