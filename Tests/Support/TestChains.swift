import Proofs

/// Certificate chains that tests share, because making an RSA key is slow.
package enum TestChains {
    /// The validity of all test chains: 2020 to 2040.
    package static let validity: ClosedRange<Int64> = 1_577_836_800...2_208_988_800

    package static func make(
        _ algorithm: CertificateChain.Algorithm = .ellipticCurve,
        name: String = "Test",
        adjust: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> CertificateChain {
        try CertificateChain.make(
            algorithm, name: name, validity: validity, randomBytes: Randomness.system.bytes, adjust: adjust)
    }

    package static let ellipticCurve = Result { try make(.ellipticCurve) }
    package static let rsa = Result { try make(.rsa) }

    /// Trust anchors with the roots of chains.
    package static func anchors(_ chains: CertificateChain...) throws -> TrustAnchors {
        try TrustAnchors(chains.compactMap { try TrustAnchor($0.root.certificate) })
    }
}
