import Proofs

/// A key that signs proofs, with its certificate chain.
struct SigningIdentity: Sendable {
    let key: PrivateKey
    /// The certificates of the leaf, the intermediate and the root, in this order.
    let chain: [Certificate]
}
