import Foundation
import Proofs
import TestSupport
import Testing

@Suite struct CertificateNameTests {
    @Test func `a certificate has names and Apple's extensions for people to read`() throws {
        let chain = try TestChains.ellipticCurve.get()
        #expect(chain.leaf.certificate.subjectName.description == "CN=Test Signing, O=Till")
        #expect(chain.leaf.certificate.issuerName == chain.intermediate.certificate.subjectName)
        #expect(chain.leaf.certificate.appleExtensions == [AppleExtension.receiptSigning.rawValue])
        #expect(chain.intermediate.certificate.appleExtensions == [AppleExtension.worldwideDeveloperRelations.rawValue])
        #expect(chain.root.certificate.appleExtensions == [])
    }

    @Test func `a name in other characters is text`() throws {
        let chain = try TestChains.make(name: "테스트, \"=+<b>")
        #expect(chain.root.certificate.subjectName.attributes.map(\.type) == ["CN", "O"])
        #expect(chain.root.certificate.subjectName.attributes.first?.value == "테스트, \"=+<b> Root")
    }

    @Test(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"))
    func `Apple's root has its published name`() throws {
        let file = try #require(
            Vectors.files("certs").first { $0.lastPathComponent == "AppleRootCA-G3.cer" })
        let root = try #require(Certificate(der: [UInt8](Data(contentsOf: file))))
        #expect(
            root.subjectName.description
                == "CN=Apple Root CA - G3, OU=Apple Certification Authority, O=Apple Inc., C=US")
        #expect(root.issuerName == root.subjectName)
    }
}
