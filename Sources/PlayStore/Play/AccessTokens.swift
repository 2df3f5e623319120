import Foundation
import GRDB
import HTTPSupport
import Proofs

/// A refused request for an access token (RFC 6749 section 5.2), with Google's descriptions.
struct TokenRefusal: Error, Equatable {
    let error: String
    let description: String

    static func invalidGrant(_ description: String) -> Self { Self(error: "invalid_grant", description: description) }

    static let unsupported = Self(error: "unsupported_grant_type", description: "Invalid grant_type.")
    static let unknownAccount = invalidGrant("Invalid grant: account not found")
    static let malformed = invalidGrant("Invalid JWT: it has to be a signed JWT.")
    static let signature = invalidGrant("Invalid JWT Signature.")
    static let audience = invalidGrant("Invalid JWT: Failed audience check.")
    static let time = invalidGrant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp "
            + "values in the JWT claim.")
    static let scope = Self(error: "invalid_scope", description: "Empty or missing scope not allowed.")
}

/// An access token for the API.
struct AccessToken {
    /// The scope of the Play Developer API, its only one.
    static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// The lifetime in seconds. Google's answers state a second less than an hour.
    static let lifetime: Int64 = 3599

    let text: String
}

/// Access tokens for service accounts (RFC 7523).
extension PlayBooks {
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// google-auth states this audience for any address of the token endpoint.
    private static let googleAudience = "https://oauth2.googleapis.com/token"
    /// The longest life of an assertion, in seconds.
    private static let maximumLifetime = 3600.0
    /// The tolerated difference of the clocks, in seconds. Google documents none.
    private static let clockSkew = 300.0

    /// Turns a signed assertion into an access token.
    ///
    /// - Parameter address: The address of the token endpoint, which an assertion may name as its audience.
    /// - Throws: `TokenRefusal`.
    func issueToken(grantType: String?, assertion: String?, at address: String) throws -> AccessToken {
        guard let grantType, grantType.hasSameBytes(as: Self.grantType) else { throw TokenRefusal.unsupported }
        guard let assertion, let token = try? SignedToken(compact: Array(assertion.utf8)),
            let issuer = token.claims.text("iss")
        else { throw TokenRefusal.malformed }
        guard let account = try serviceAccount(issuer) else { throw TokenRefusal.unknownAccount }
        let publicKey = try? PublicKey(rsaInformation: account.publicKey)
        guard let key = publicKey.flatMap({ TokenKey($0, for: .rs256) }), token.isSigned(by: key),
            token.keyIdentifier?.hasSameBytes(as: account.keyIdentifier) ?? true
        else { throw TokenRefusal.signature }
        guard let audiences = token.claims.audiences, audiences.count == 1,
            audiences.allSatisfy({ $0.hasSameBytes(as: Self.googleAudience) || $0.hasSameBytes(as: address) })
        else { throw TokenRefusal.audience }
        let now = Double(machineTime.millisecondsSince1970) / 1000
        guard let start = token.claims.date("iat"), let end = token.claims.date("exp"), start <= now + Self.clockSkew,
            end > now - Self.clockSkew, end > start, end <= start + Self.maximumLifetime
        else { throw TokenRefusal.time }
        guard let scope = token.claims.text("scope"), !scope.isEmpty else { throw TokenRefusal.scope }
        let text = "ya29." + Base64.encode(randomness.bytes(48), .urlSafe)
        try database.execute(
            literal: "DELETE FROM access_token WHERE expires_at <= \(machineTime.millisecondsSince1970)")
        try database.execute(
            literal: """
                INSERT INTO access_token (digest, email, scope, expires_at)
                VALUES (\(Self.digest(of: text)), \(account.email), \(scope),
                    \(machineTime.adding(seconds: AccessToken.lifetime).millisecondsSince1970))
                """)
        return AccessToken(text: text)
    }

    /// The account of an access token.
    ///
    /// - Throws: `PublisherError` for a token that is unknown or has ended, or without the scope of the API.
    func account(ofToken text: String?) throws -> ServiceAccount {
        guard let text,
            let row = try SQLRequest<Row>(
                """
                SELECT email, scope FROM access_token
                WHERE digest = \(Self.digest(of: text)) AND expires_at > \(machineTime.millisecondsSince1970)
                """
            ).fetchOne(database), let account = try serviceAccount(row["email"])
        else { throw PublisherError.unauthenticated }
        guard (row["scope"] as String).split(separator: " ").contains(AccessToken.scope[...]) else {
            throw PublisherError.insufficientScope
        }
        return account
    }

    private static func digest(of text: String) -> String {
        DigestAlgorithm.sha256.digest(of: Array(text.utf8)).hexadecimal
    }
}
