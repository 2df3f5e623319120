import Foundation

/// A service account of Google Cloud, from the key file that the console of Google Cloud writes. It signs requests for access tokens.
package struct GoogleServiceAccount: Sendable {
    /// The maximum size of the file in bytes. Google's have 2400.
    package static let maximumSize = 16 << 10
    private static let maximumNameSize = 256
    /// The scope of the Play Developer API, its only one.
    private static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// The audience of an assertion. It is this one for each address of the token endpoint, as in Google's own libraries.
    private static let audience = "https://oauth2.googleapis.com/token"
    /// The age of a new assertion in seconds, because Google refuses one from the future.
    private static let age: Int64 = 30
    /// The life of an assertion in seconds, the longest that Google accepts.
    private static let lifetime: Int64 = 3600

    /// The account's e-mail address (`client_email`), which the Play Console invites.
    package let email: String
    /// The address that turns signed assertions into access tokens (`token_uri`).
    package let tokenURL: URL
    private let keyIdentifier: String?
    private let privateKey: PrivateKey

    /// Reads the key file.
    ///
    /// - Throws: `GoogleServiceAccountError` for a file of another form.
    package init(json bytes: [UInt8]) throws(GoogleServiceAccountError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        guard case .object(let object)? = try? JSONParser.parse(bytes) else { throw .notJSON }
        func text(_ name: String) throws(GoogleServiceAccountError) -> String {
            guard let text = object.text(name), !text.isEmpty else { throw .memberMissing(name) }
            return text
        }
        func name(_ member: String) throws(GoogleServiceAccountError) -> String {
            let name = try text(member)
            guard name.utf8.count <= Self.maximumNameSize, name.isVisibleASCII else { throw .memberMissing(member) }
            return name
        }
        guard try text("type").hasSameBytes(as: "service_account") else { throw .otherType }
        email = try name("client_email")
        keyIdentifier = object["private_key_id"] == nil ? nil : try name("private_key_id")
        guard let url = URL(string: try name("token_uri")), url.mayReceiveSecrets else { throw .tokenURLInsecure }
        tokenURL = url
        let pem = try text("private_key")
        guard let key = try? PrivateKey(pem: pem), case .rsa(let bits) = key.publicKey.kind,
            (2048...8192).contains(bits)
        else { throw .keyInvalid }
        privateKey = key
    }

    /// The signed request for an access token (RFC 7523).
    package func assertion(at now: Timestamp) throws -> String {
        let header: JSONObject = ["alg": "RS256", "typ": "JWT", "kid": keyIdentifier.map { .string($0) }]
        let start = now.secondsSince1970 - Self.age
        let claims = JSONValue.object([
            "iss": .string(email), "scope": .string(Self.scope), "aud": .string(Self.audience), "iat": .integer(start),
            "exp": .integer(start + Self.lifetime),
        ])
        let signed = [JSONValue.object(header), claims].map { Base64.encode($0.compactText.utf8, .urlSafe) }
            .joined(separator: ".")
        return signed + "."
            + Base64.encode(try privateKey.signRSA(Array(signed.utf8), digest: .sha256), .urlSafe)
    }
}

extension URL {
    /// True for an address with HTTPS, or with HTTP on the loopback interface: nobody on the network reads or answers requests to it.
    package var mayReceiveSecrets: Bool {
        guard let host = host(), user == nil else { return false }
        return scheme == "https" || (scheme == "http" && ["127.0.0.1", "::1", "localhost"].contains(host))
    }
}

/// A key file that is not one of a service account.
package enum GoogleServiceAccountError: Error, Equatable {
    case tooLarge
    case notJSON
    case otherType
    case memberMissing(String)
    case tokenURLInsecure
    case keyInvalid
}
