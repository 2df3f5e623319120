import Signatures

/// A key that signs proofs, with the certificates that say so.
struct SigningIdentity: Sendable {
    let key: PrivateKey
    /// Leaf, intermediate, root.
    let chain: [Certificate]
}
