import Proofs
import TestSupport
import Testing

@Suite struct SignedDataTests {
    static let content = Array("the payload".utf8)

    @Test func `signed content is read back`() throws {
        let chain = try TestChains.rsa.get()
        let signed = try SignedData(
            ber: try SignedData.sign(Self.content, with: chain.leaf.key, chain: chain.certificates))
        #expect(signed.content == Self.content)
        #expect(signed.certificates.map { Array($0) } == chain.certificates.map(\.der))
        #expect(signed.signerCertificates(among: chain.certificates) == [chain.leaf.certificate])
        #expect(signed.isSigned(by: chain.leaf.certificate.publicKey, digest: signed.contentDigest))
        #expect(!signed.isSigned(by: chain.intermediate.certificate.publicKey, digest: signed.contentDigest))
    }

    @Test func `a truncated or extended container is malformed`() throws {
        let chain = try TestChains.rsa.get()
        let signed = try SignedData.sign(Self.content, with: chain.leaf.key, chain: chain.certificates)
        for length in 0..<signed.count {
            #expect(throws: ProofRefusal.self) { try SignedData(ber: Array(signed.prefix(length))) }
        }
        #expect(throws: ProofRefusal(.containerInvalid, "The container must be a PKCS#7 SignedData.")) {
            try SignedData(ber: signed + [0])
        }
    }
}
