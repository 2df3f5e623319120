import Foundation
import GRDB
import HTTPSupport
import Proofs

/// A service account, with which a server calls the API.
package struct ServiceAccount: Codable, Hashable, Sendable {
    package let email: String
    /// The identifier of its key (`private_key_id`).
    package let keyIdentifier: String
    /// The number of the account (`client_id`).
    package let clientIdentifier: String
    /// The public key in base64 of its SubjectPublicKeyInfo. The Play does not keep the private key.
    let publicKey: String
    /// The apps that the account may ask about; nil for all.
    package let packageNames: [String]?

    func mayUse(_ packageName: String) -> Bool { packageNames?.contains(packageName) ?? true }
}

/// The key file of a service account, as Google Cloud writes it.
package struct ServiceAccountKey: Codable, Sendable {
    package let type: String
    package let projectId: String
    package let privateKeyId: String
    package let privateKey: String
    package let clientEmail: String
    package let clientId: String
    /// The address that turns signed assertions into access tokens.
    package internal(set) var tokenUri: String
    package let universeDomain: String

    private enum CodingKeys: String, CodingKey {
        case type
        case projectId = "project_id"
        case privateKeyId = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case clientId = "client_id"
        case tokenUri = "token_uri"
        case universeDomain = "universe_domain"
    }

    /// The content of the file.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

extension PlayBooks {
    private static let project = "till-local-play"

    /// Makes a service account.
    ///
    /// - Parameters:
    ///   - url: The address of the Play.
    ///   - packageNames: The apps that the account may ask about; nil for all.
    package func makeServiceAccount(at url: URL, for packageNames: [String]? = nil) throws -> ServiceAccountKey {
        for packageName in packageNames ?? [] where try !hasApp(packageName) {
            throw PlayError.appNotFound(packageName)
        }
        let key = try keys.newKey()
        let name = String(decoding: randomness.bytes(8).map { UInt8(ascii: "a") + $0 % 26 }, as: UTF8.self)
        let account = ServiceAccount(
            email: "\(name)@\(Self.project).iam.gserviceaccount.com",
            keyIdentifier: randomness.bytes(20).hexadecimal, clientIdentifier: randomness.digits(21, startingWith: "1"),
            publicKey: try key.publicKey.informationText(), packageNames: packageNames)
        try database.insert(
            ["email": account.email, "record": try LocalRecord.text(account)], into: "service_account")
        return ServiceAccountKey(
            type: "service_account", projectId: Self.project, privateKeyId: account.keyIdentifier,
            privateKey: try key.pem(), clientEmail: account.email, clientId: account.clientIdentifier,
            tokenUri: Self.tokenAddress(at: url), universeDomain: "googleapis.com")
    }

    /// The key of the account for a server beside the Play, from its file. A file without a key of this Play gets a new one.
    ///
    /// - Parameter url: The address of the Play, which may have another port than in the file.
    package func serviceAccountKey(keptIn file: URL, at url: URL) throws -> ServiceAccountKey {
        let kept = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(ServiceAccountKey.self, from: $0) }
        if var kept, let account = try serviceAccount(kept.clientEmail), account.keyIdentifier == kept.privateKeyId {
            kept.tokenUri = Self.tokenAddress(at: url)
            return kept
        }
        let key = try makeServiceAccount(at: url)
        try PrivateFile.replace(file, with: try key.json())
        return key
    }

    private static func tokenAddress(at url: URL) -> String { url.appending(path: "token").absoluteString }

    func serviceAccount(_ email: String) throws -> ServiceAccount? {
        try database.record("SELECT record FROM service_account WHERE email = \(email)")
    }
}

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
    /// The audiences that Google's clients state for any address of the token endpoint: that for Python, and that for Ruby.
    private static let googleAudiences = [
        "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
    ]
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
        let accepted = Self.googleAudiences + [address]
        guard let audiences = token.claims.audiences, audiences.count == 1,
            audiences.allSatisfy({ audience in accepted.contains { $0.hasSameBytes(as: audience) } })
        else { throw TokenRefusal.audience }
        let now = Double(machineTime.millisecondsSince1970) / 1000
        guard let start = token.claims.date("iat"), let end = token.claims.date("exp"), start <= now + Self.clockSkew,
            end > now - Self.clockSkew, end > start, end <= start + Self.maximumLifetime
        else { throw TokenRefusal.time }
        guard let scope = token.claims.text("scope"), !scope.isEmpty else { throw TokenRefusal.scope }
        let text = "ya29." + Base64.encode(randomness.bytes(48), .urlSafe)
        try database.execute(literal: "DELETE FROM access_token WHERE expires_at <= \(machineTime)")
        try database.insert(
            [
                "digest": Self.digest(of: text), "email": account.email, "scope": scope,
                "expires_at": machineTime.adding(seconds: AccessToken.lifetime),
            ], into: "access_token")
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
                WHERE digest = \(Self.digest(of: text)) AND expires_at > \(machineTime)
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
