import Commerce
import Foundation
import JWTKit

/// A team's key for the App Store Server API (App Store Connect, "In-App Purchase key").
public struct AppStoreServerKey: Sendable {
    package let keyIdentifier: String
    package let issuerIdentifier: String
    package let bundleIdentifier: String
    private let keys: JWTKeyCollection

    /// - Parameter privateKey: The content of the `.p8` file, in PEM.
    /// - Throws: `ReconciliationError`, `keyInvalid`.
    public init(
        privateKey: String,
        keyIdentifier: String,
        issuerIdentifier: String,
        bundleIdentifier: String
    ) async throws(ReconciliationError) {
        self.keyIdentifier = keyIdentifier
        self.issuerIdentifier = issuerIdentifier
        self.bundleIdentifier = bundleIdentifier
        guard let key = try? ES256PrivateKey(pem: privateKey) else { throw .keyInvalid }
        keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyIdentifier))
    }

    /// A token good for five minutes (App Store Server API, "Generating JSON Web Tokens for API requests").
    package func token(at now: Timestamp) async throws -> String {
        let seconds = now.secondsSince1970
        return try await keys.sign(
            Claims(
                iss: issuerIdentifier, iat: seconds, exp: seconds + 300, aud: "appstoreconnect-v1",
                bid: bundleIdentifier), kid: JWKIdentifier(string: keyIdentifier))
    }

    /// Dates in seconds since 1970.
    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud: String
        let bid: String

        /// Only made here, never judged.
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}
