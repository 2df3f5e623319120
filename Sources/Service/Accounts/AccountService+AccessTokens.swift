import Features
import HTTPSupport

extension AccountService: AccessTokens {
    package func caller(presenting credential: String) async throws -> Caller? {
        guard Self.isAccessToken(credential) else { return nil }
        switch try await user(presenting: credential) {
        case .user(let user): return .app(user, app: nil)
        case .expired: throw Problem.tokenExpired
        case .invalid: throw Problem.tokenInvalid("the access token is unknown or its session has ended")
        }
    }
}
