import Proofs
import TestSupport
import Testing

@Suite struct CertificateTests {
    @Test func `a chain has the structure of Apple's`() throws {
        for result in [TestChains.ellipticCurve, TestChains.rsa] {
            let chain = try result.get()
            #expect(chain.root.certificate.isSelfIssued)
            #expect(chain.root.certificate.isAuthority)
            #expect(chain.intermediate.certificate.isAuthority)
            #expect(!chain.leaf.certificate.isAuthority)
            #expect(chain.leaf.certificate.has(.receiptSigning))
            #expect(!chain.leaf.certificate.has(.worldwideDeveloperRelations))
            #expect(chain.intermediate.certificate.has(.worldwideDeveloperRelations))
            #expect(chain.leaf.certificate.issuer == chain.intermediate.certificate.subject)
            #expect(chain.leaf.certificate.notBefore == TestChains.validity.lowerBound)
            #expect(chain.leaf.certificate.notAfter == TestChains.validity.upperBound)
            #expect(chain.leaf.certificate.commonName == "Test Signing")
        }
        #expect(try TestChains.ellipticCurve.get().leaf.certificate.publicKey.kind == .ellipticCurve(.p256))
        #expect(try TestChains.ellipticCurve.get().root.certificate.publicKey.kind == .ellipticCurve(.p384))
        #expect(try TestChains.rsa.get().leaf.certificate.publicKey.kind == .rsa(bits: 2048))
    }

    @Test func `only exactly one certificate is read`() throws {
        let der = try TestChains.ellipticCurve.get().leaf.certificate.der
        #expect(Certificate(der: der)?.der == der)
        #expect(Certificate(der: der + [0]) == nil)
        for length in 0..<der.count { #expect(Certificate(der: Array(der.prefix(length))) == nil) }
    }

    @Test func `a path leads to a trusted root during its validity`() throws {
        let chain = try TestChains.ellipticCurve.get()
        let store = try CertificateStore(trusting: [chain.root.certificate])
        let middle = (TestChains.validity.lowerBound + TestChains.validity.upperBound) / 2
        func path(_ intermediates: [Certificate], at moment: Int64) throws -> [Certificate] {
            try store.path(from: chain.leaf.certificate, through: intermediates, at: moment)
        }
        #expect(try path([chain.intermediate.certificate], at: middle) == chain.certificates)
        #expect(try path([chain.root.certificate, chain.intermediate.certificate], at: middle) == chain.certificates)
        #expect(throws: CertificatePathError.untrusted) { try path([], at: middle) }
        for moment in [TestChains.validity.lowerBound - 1, TestChains.validity.upperBound + 1] {
            #expect(throws: CertificatePathError.outsideValidity) {
                try path([chain.intermediate.certificate], at: moment)
            }
        }
        let stranger = try CertificateStore(trusting: [try TestChains.rsa.get().root.certificate])
        #expect(throws: CertificatePathError.untrusted) {
            try stranger.path(from: chain.leaf.certificate, through: chain.certificates, at: middle)
        }
    }

    @Test func `a root with the same name is another root`() throws {
        let chain = try TestChains.make()
        let namesake = try TestChains.make()
        #expect(chain.root.certificate.subject == namesake.root.certificate.subject)
        let store = try CertificateStore(trusting: [namesake.root.certificate])
        #expect(throws: CertificatePathError.untrusted) {
            try store.path(
                from: chain.leaf.certificate, through: chain.certificates, at: TestChains.validity.lowerBound)
        }
    }
}
