import HTTPSupport
import Logging
import Proofs

/// The identity tokens with which Pub/Sub pushes notifications (OpenID Connect). Google signs them for the service account of the
/// subscription.
///
/// Every service account of Google's, also a stranger's, can get a token for any audience. Only the account's e-mail address says who
/// pushes.
package struct PushTokens: Sendable {
    /// The settings of the subscription.
    package struct Settings: Sendable {
        /// The audience of the subscription (`aud`): the configured one, or else its address.
        package let audience: String
        /// The e-mail address of the subscription's service account.
        package let email: String
        /// The published keys of Google's accounts.
        package let keys: TokenKeySource

        package init(audience: String, email: String, keys: TokenKeySource) {
            (self.audience, self.email, self.keys) = (audience, email, keys)
        }
    }

    /// The address of the keys of Google's accounts.
    package static let standardKeys = "https://www.googleapis.com/oauth2/v1/certs"

    private static let issuers = ["https://accounts.google.com", "accounts.google.com"]
    /// The seconds by which Google's clock may be ahead.
    private static let clockSkew: Int64 = 60
    /// The longest lifetime of a token, in seconds. Those of Google end after an hour.
    private static let maximumLifetime: Int64 = 86_400
    /// The bounds of the time after which Google's keys are loaded again, in seconds.
    private static let keyIntervals: ClosedRange<Int64> = 60...86_400

    private let settings: Settings
    private let keys: TokenKeys
    private let clock: any WallClock

    package init(_ settings: Settings, clock: any WallClock, logger: Logger) {
        self.settings = settings
        self.clock = clock
        keys = TokenKeys(
            identityKeysFrom: settings.keys, in: "google-certificates-url", loadedEvery: Self.keyIntervals,
            clock: clock, logger: logger)
    }

    /// Verifies that the subscription has sent a request with this token.
    ///
    /// The claims are compared before the signature is verified, so that strangers cannot make the service load keys.
    ///
    /// - Throws: `Problem` with the code `tokenInvalid`, `tokenExpired`, or `tokenKeysUnavailable` if Google's keys cannot be loaded.
    package func verify(_ credential: String) async throws(Problem) {
        try SignedToken.checkSize(credential.utf8.count)
        let token = try SignedToken(compact: Array(credential.utf8))
        guard token.algorithm.hasSameBytes(as: TokenAlgorithm.rs256.rawValue), let identifier = token.keyIdentifier
        else { throw .tokenInvalid("it must be signed with RS256, by a key with a kid") }
        try check(token.claims)
        let key: TokenKey?
        do { key = try await keys.key(identifier) } catch { throw .tokenKeysUnavailable }
        guard let key else { throw .tokenInvalid("its issuer has no key with its kid") }
        guard token.isSigned(by: key) else { throw .tokenInvalid("its signature is invalid") }
    }

    private func check(_ claims: TokenClaims) throws(Problem) {
        guard let issuer = claims.text("iss"), Self.issuers.contains(where: issuer.hasSameBytes) else {
            throw .tokenInvalid("it is from another issuer")
        }
        guard let audience = claims.text("aud"), audience.hasSameBytes(as: settings.audience) else {
            throw .tokenInvalid("it is for another audience")
        }
        guard let email = claims.text("email"), email.hasSameBytes(as: settings.email),
            claims.flag("email_verified") == true
        else { throw .tokenInvalid("it is of another service account, or its e-mail address is not verified") }
        let now = Double(clock.now().millisecondsSince1970) / 1000
        guard let start = claims.date("iat"), let end = claims.date("exp"), start <= end,
            end - start <= Double(Self.maximumLifetime), start <= now + Double(Self.clockSkew)
        else { throw .tokenInvalid("its iat or exp is missing, in the future, or too far from the other") }
        guard now < end else { throw .tokenExpired }
    }
}
