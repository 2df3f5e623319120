import Foundation
import Proofs
import TestSupport
import Testing

@Suite struct TrustAnchorTests {
    @Test(arguments: [
        ("Test", Realm.local), ("Xcode", .local),
    ])
    func `other roots belong to the local realm`(name: String, realm: Realm) throws {
        let chain = try TestChains.make(name: name)
        #expect(try TrustAnchor(chain.root.certificate)?.realm == realm)
        #expect(try TrustAnchor(chain.intermediate.certificate) == nil)
        #expect(try TrustAnchor(chain.leaf.certificate) == nil)
    }

    @Test(arguments: ["Apple", "apple Root CA - G3", "APPLE Inc."])
    func `a root that imitates Apple's is refused`(name: String) throws {
        let chain = try TestChains.make(name: name)
        #expect(throws: TrustError.impostor(name: "\(name) Root")) { try TrustAnchor(chain.root.certificate) }
    }

    @Test func `a folder is read in DER and PEM`() throws {
        let folder = try TemporaryFolder()
        let one = try TestChains.ellipticCurve.get()
        let two = try TestChains.rsa.get()
        try Data(one.root.certificate.der).write(to: folder.file("one.cer"))
        try Data(one.intermediate.certificate.der).write(to: folder.file("intermediate.cer"))
        let pem =
            "-----BEGIN CERTIFICATE-----\n\(Data(two.root.certificate.der).base64EncodedString(options: .lineLength64Characters))\n-----END CERTIFICATE-----\n"
        try Data(pem.utf8).write(to: folder.file("two.pem"))
        try Data("# Keys".utf8).write(to: folder.file("README.md"))
        let anchors = try TrustAnchors(folders: [folder.url]).anchors
        #expect(Set(anchors.map(\.certificate)) == [one.root.certificate, two.root.certificate])
    }

    @Test func `roots are added and removed`() throws {
        let folder = try TemporaryFolder()
        let trust = TrustFolder(folder.url)
        let source = try TemporaryFolder()
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: source.file("root.crt"))
        #expect(try trust.add(file: source.file("root.crt")).map(\.certificate) == [chain.root.certificate])
        #expect(try trust.add(file: source.file("root.crt")).count == 1)
        #expect(try trust.entries().count == 1)
        let fingerprint = chain.root.certificate.fingerprint.hexadecimal
        #expect(throws: TrustError.notFound(fingerprint: "0000000000")) { try trust.remove(fingerprint: "0000000000") }
        #expect(throws: TrustError.self) { try trust.remove(fingerprint: String(fingerprint.prefix(7))) }
        #expect(try trust.remove(fingerprint: fingerprint.prefix(8).uppercased()).certificate == chain.root.certificate)
        #expect(try trust.entries().isEmpty)

        let impostor = try TestChains.make(name: "Apple Root CA - G3")
        for (name, certificate) in [("leaf.cer", chain.leaf.certificate), ("impostor.cer", impostor.root.certificate)] {
            try Data(certificate.der).write(to: source.file(name))
            #expect(throws: TrustError.self) { try trust.add(file: source.file(name)) }
        }
        #expect(try trust.entries().isEmpty)
    }

    @Test func `an unreadable certificate is named`() throws {
        let folder = try TemporaryFolder()
        try Data("nonsense".utf8).write(to: folder.file("bad.cer"))
        #expect(throws: TrustError.certificateUnreadable(path: folder.file("bad.cer").path)) {
            try TrustAnchors(folders: [folder.url])
        }
        let absent = folder.file("absent.cer")
        #expect(throws: TrustError.fileUnreadable(path: absent.path)) { try TrustFolder(folder.url).add(file: absent) }
        let missing = folder.folder("missing")
        #expect(throws: TrustError.folderUnreadable(path: missing.path)) { try TrustAnchors(folders: [missing]) }
    }
}
