import Proofs

/// A public key with which an issuer signs tokens by one algorithm.
package struct TokenKey: Sendable {
    package let algorithm: TokenAlgorithm
    private let key: PublicKey

    /// - Returns: Nil if the algorithm uses another kind of key.
    package init?(_ key: PublicKey, for algorithm: TokenAlgorithm) {
        guard algorithm.accepts(key.kind) else { return nil }
        self.algorithm = algorithm
        self.key = key
    }

    /// Verifies a signature in JWS form.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        switch algorithm {
        case .rs256: key.verifiesRSA(signature, over: message, digest: .sha256)
        case .rs384: key.verifiesRSA(signature, over: message, digest: .sha384)
        case .rs512: key.verifiesRSA(signature, over: message, digest: .sha512)
        case .ps256: key.verifiesPSS(signature, over: message, digest: .sha256)
        case .ps384: key.verifiesPSS(signature, over: message, digest: .sha384)
        case .ps512: key.verifiesPSS(signature, over: message, digest: .sha512)
        case .es256: key.verifiesES256(signature, over: message)
        case .es384: key.verifiesES384(signature, over: message)
        case .es512: key.verifiesES512(signature, over: message)
        case .edDSA: key.verifiesEd25519(signature, over: message)
        }
    }
}
