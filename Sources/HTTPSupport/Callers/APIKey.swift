import Proofs

/// A secret with which a caller shows that it may use the service; only its hash is kept.
package struct APIKey: Sendable {
    private let digest: [UInt8]

    package init(_ secret: String) {
        digest = Self.digest(of: secret)
    }

    package func matches(_ presented: some StringProtocol) -> Bool {
        ConstantTime.areEqual(Self.digest(of: String(presented)), digest)
    }

    private static func digest(of secret: String) -> [UInt8] {
        DigestAlgorithm.sha256.digest(of: Array(secret.utf8))
    }
}
