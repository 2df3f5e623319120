import Foundation
import Proofs
import TestSupport
import Testing

/// The cache of valid chains.
@Suite struct ChainCacheTests {
    /// - Parameter certificates: The certificates in the receipt, the signer's first.
    private func receipt(signedBy chain: CertificateChain, bringing certificates: [Certificate]) throws -> [UInt8] {
        try SignedData.sign(TestProofs.receipt().payload(), with: chain.leaf.key, chain: certificates)
    }

    /// Nothing signs the certificates in a receipt, so each variant is as genuine as the receipt.
    @Test func `variants of one genuine receipt take one entry`() throws {
        let chain = try TestChains.rsa.get()
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
        let strangers = try (0..<4).map { try TestChains.make(name: "Stranger \($0)") }.map(\.leaf.certificate)
        let (leaf, others) = (chain.certificates[0], Array(chain.certificates[1...]))
        let bags =
            [others, others.reversed(), [others[0]]] + strangers.map { others + [$0] } + strangers.map { [$0] + others }
        for bag in bags {
            _ = try verifier.verify(
                try receipt(signedBy: chain, bringing: [leaf] + bag), expecting: ProofExpectations())
            #expect(verifier.cachedChainCount == 1)
        }
    }

    @Test func `a known chain does not outlive its root`() throws {
        let (chain, other) = (try TestChains.ellipticCurve.get(), try TestChains.make(name: "Other"))
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain, other), clock: ManualClock())
        let copy = verifier
        let proof = try TestProofs.transaction(TestProofs.transactionPayload(), chain: chain)
        _ = try verifier.verify(proof, expecting: ProofExpectations())
        #expect(copy.cachedChainCount == 1)
        verifier.replaceRoots(with: try TestChains.anchors(other))
        for verifier in [verifier, copy] {
            #expect(verifier.cachedChainCount == 0)
            #expect(!verifier.hasCachedChain(proof))
            #expect { try verifier.verify(proof, expecting: ProofExpectations()) } throws: {
                ($0 as? ProofRefusal)?.reason == .chainUntrusted
            }
        }
        verifier.replaceRoots(with: try TestChains.anchors(chain))
        _ = try copy.verify(proof, expecting: ProofExpectations())
    }

    /// OpenSSL accepts longer encodings of a length than DER allows. No signature covers the outer lengths.
    @Test func `a certificate in another encoding than DER is refused`() throws {
        let certificate = try TestChains.rsa.get().leaf.certificate.der
        #expect(Certificate(der: certificate) != nil)
        #expect(certificate[1] == 0x82)
        #expect(Certificate(der: [0x30, 0x83, 0x00] + certificate[2...]) == nil)
    }

    @Test func `a receipt without its intermediate is refused, cached or not`() throws {
        let chain = try TestChains.rsa.get()
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
        let short = try receipt(signedBy: chain, bringing: [chain.leaf.certificate])
        let refusal = ProofRefusal(.chainUntrusted, "If `till trust list` does not show their root, add it.")
        #expect(throws: refusal) { try verifier.verify(short, expecting: ProofExpectations()) }
        let whole = try receipt(signedBy: chain, bringing: chain.certificates)
        _ = try verifier.verify(whole, expecting: ProofExpectations())
        #expect(throws: refusal) { try verifier.verify(short, expecting: ProofExpectations()) }
    }

    /// An authority uses each serial number once. An attacker may reuse one and insert the certificate into a receipt.
    @Test(arguments: [0, 1])
    func `a certificate with the signer's name changes no result, with or without the cache`(place: Int) throws {
        let chain = try TestChains.rsa.get()
        let impostor = try TestChains.make(.rsa) { $0.serialNumber = chain.leaf.certificate.serialNumber }.leaf
            .certificate
        #expect(impostor.issuer == chain.leaf.certificate.issuer)
        #expect(impostor.serialNumber == chain.leaf.certificate.serialNumber)
        var bag = chain.certificates
        bag.insert(impostor, at: place)
        let receipt = try receipt(signedBy: chain, bringing: bag)
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
        for _ in 0..<2 { _ = try verifier.verify(receipt, expecting: ProofExpectations()) }
        #expect(verifier.cachedChainCount == 1)
    }

    @Test func `a chain that signs a thousand proofs gets a table, which changes no verdict`() throws {
        let chain = try TestChains.ellipticCurve.get()
        let anchors = try TestChains.anchors(chain)
        let verifier = ProofVerifier(anchors: anchors, clock: ManualClock())
        let without = ProofVerifier(anchors: anchors, clock: ManualClock(), keyTables: 0)
        let proof = try TestProofs.transaction(TestProofs.transactionPayload(), chain: chain)
        // The first proof makes the chain known.
        for _ in 0..<1024 { _ = try verifier.verify(proof, expecting: ProofExpectations()) }
        #expect(verifier.keyTableCount == 0)
        for verifier in [verifier, without] { _ = try verifier.verify(proof, expecting: ProofExpectations()) }
        #expect(verifier.keyTableCount == 1)
        #expect(without.keyTableCount == 0)
        _ = try verifier.verify(proof, expecting: ProofExpectations())
        let forged = Array(proof.dropLast(4)) + Array("AAAA".utf8)
        #expect(throws: ProofRefusal(.signatureInvalid)) {
            try verifier.verify(forged, expecting: ProofExpectations())
        }
        verifier.replaceRoots(with: anchors)
        #expect(verifier.keyTableCount == 0)
    }

    @Test func `the cache keeps the newest chains`() throws {
        let chains = try (0..<40).map { try TestChains.make(name: "Chain \($0)") }
        let verifier = ProofVerifier(
            anchors: try TrustAnchors(chains.map { try #require(try TrustAnchor($0.root.certificate)) }),
            clock: ManualClock())
        for chain in chains {
            _ = try verifier.verify(try TestProofs.transaction(chain: chain), expecting: ProofExpectations())
        }
        #expect(verifier.cachedChainCount == 32)
        #expect(verifier.hasCachedChain(try TestProofs.transaction(chain: chains[39])))
        #expect(!verifier.hasCachedChain(try TestProofs.transaction(chain: chains[0])))
        #expect(!verifier.hasCachedChain(Array("x".utf8)))
    }
}
