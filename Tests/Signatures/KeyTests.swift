import Foundation
import Proofs
import TestSupport
import Testing

@Suite struct KeyTests {
    static let message = Array("what was sold".utf8)

    @Test func `a JWS signature is valid only for its message and key`() throws {
        let key = try PrivateKey.generate(.p256)
        let signature = try key.signES256(Self.message)
        #expect(signature.count == 64)
        #expect(key.publicKey.verifiesES256(signature, over: Self.message))
        #expect(!key.publicKey.verifiesES256(signature, over: Self.message + [0]))
        #expect(!(try PrivateKey.generate(.p256)).publicKey.verifiesES256(signature, over: Self.message))
    }

    @Test func `signatures with every width of r and s are valid`() throws {
        // One signature in 128 has an r or s of at most 31 bytes, whose DER is shorter.
        let key = try PrivateKey.generate(.p256)
        for number in 0..<400 {
            let message = Array("message \(number)".utf8)
            #expect(key.publicKey.verifiesES256(try key.signES256(message), over: message))
        }
    }

    @Test func `a JWS signature out of range is refused`() throws {
        let key = try PrivateKey.generate(.p256)
        let signature = try key.signES256(Self.message)
        let zero = [UInt8](repeating: 0, count: 32)
        let tooLarge = [UInt8](repeating: 0xFF, count: 32)
        let forgeries: [[UInt8]] = [
            zero + signature.suffix(32), signature.prefix(32) + zero, zero + zero, tooLarge + signature.suffix(32),
            signature.prefix(32) + tooLarge, Array(signature.prefix(63)), signature + [0], [],
            signature.prefix(32) + [0] + signature.suffix(32),
        ]
        for forged in forgeries { #expect(!key.publicKey.verifiesES256(forged, over: Self.message)) }
    }

    @Test func `keys of other kinds neither sign nor verify ES256`() throws {
        for key in [try PrivateKey.generate(.p384), try TestChains.rsa.get().leaf.key] {
            #expect(throws: OpenSSLError.self) { try key.signES256(Self.message) }
            #expect(!key.publicKey.verifiesES256([UInt8](repeating: 1, count: 64), over: Self.message))
        }
    }

    @Test(arguments: [DigestAlgorithm.sha1, .sha256])
    func `an RSA signature is valid only for its message and digest`(digest: DigestAlgorithm) throws {
        let key = try TestChains.rsa.get().leaf.key
        let signature = try key.signRSA(Self.message, digest: digest)
        #expect(key.publicKey.verifiesRSA(signature, over: Self.message, digest: digest))
        #expect(!key.publicKey.verifiesRSA(signature, over: Self.message, digest: digest == .sha1 ? .sha256 : .sha1))
        #expect(!key.publicKey.verifiesRSA(signature, over: Self.message + [0], digest: digest))
    }

    @Test func `a key survives its file`() throws {
        let key = try PrivateKey.generate(.p256)
        let read = try PrivateKey(pem: try key.pem())
        #expect(read.publicKey == key.publicKey)
        #expect(key.publicKey.verifiesES256(try read.signES256(Self.message), over: Self.message))
        #expect(throws: OpenSSLError.self) { try PrivateKey(pem: "no key") }
    }

    @Test func `an RSA key survives its base64 and its file`() throws {
        let key = try PrivateKey(pem: try TestChains.rsa.get().leaf.key.pem())
        let text = try key.publicKey.informationText()
        #expect(text.hasPrefix("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA") && text.count == 392)
        let read = try PublicKey(rsaInformation: text)
        #expect(read == key.publicKey)
        let signature = try key.signRSA(Self.message, digest: .sha1)
        #expect(read.verifiesRSA(signature, over: Self.message, digest: .sha1))
        #expect(!read.verifiesRSA(Array(signature.dropFirst()), over: Self.message, digest: .sha1))
        #expect(!read.verifiesRSA([0] + signature, over: Self.message, digest: .sha1))
    }

    @Test func `a text that is no RSA key of 2048 bits is refused with the reason`() throws {
        let text = try TestChains.rsa.get().leaf.key.publicKey.informationText()
        let longer = Base64.encode((Base64.decode(text.utf8) ?? []) + [0])
        for unreadable in ["", "key", "\(text)\n", longer, String(repeating: "A", count: 4096)] {
            #expect(throws: RSAKeyError.unreadable) { try PublicKey(rsaInformation: unreadable) }
        }
        let curve = try PrivateKey.generate(.p256).publicKey.informationText()
        #expect(throws: RSAKeyError.notRSA) { try PublicKey(rsaInformation: curve) }
        let small = try #require(Self.strangeKeys.first { $0.0 == "RSA of 1024 bits" }).1
        #expect(throws: RSAKeyError.size(bits: 1024)) {
            try PublicKey(rsaInformation: Base64.encode(Self.bytes(small)))
        }
    }

    @Test func `digests match the standard's`() {
        #expect(DigestAlgorithm.sha256.digest(of: Array("abc".utf8)).hexadecimal.hasPrefix("ba7816bf8f01cfea"))
        #expect(
            DigestAlgorithm.sha1.digest(of: Array("abc".utf8)).hexadecimal == "a9993e364706816aba3e25717850c26c9cd0d89d"
        )
        #expect(DigestAlgorithm.sha384.digest(of: [UInt8]()).count == 48)
    }

    @Test func `private files are accessible only to their owner`() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("key.pem")
        try PrivateFile.create(Self.message, at: file)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try [UInt8](Data(contentsOf: file)) == Self.message)
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.create([], at: file) }
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.ensureExists(at: folder.file("none/key.pem")) }
    }

    /// Valid signatures of "Till" with SHA-256, under keys that never sign proofs.
    static let strangeKeys = [
        (
            "secp256k1",
            "3056301006072a8648ce3d020106052b8104000a03420004d22ee7cf90a761c703738b0c83e81650e915a646b3d3da6c312dd8f70c1c"
                + "cd8528fed7d33dd7bdfba8a2d8ee8e31832ea68cf3836c7b61d5ac4a6fb65877b18f",
            "5d4a2332e258a36c388f3ce02e2ef40f7662705df12ce3bf59d196a20b4cc05dc662c475826c90722be43b7bcda9cbfac122f170c1c8"
                + "708f2ea12069649200c6"
        ),
        (
            "brainpoolP256r1",
            "305a301406072a8648ce3d020106092b2403030208010107034200042c5b393faac7a63eac91776bad25fa7226b1e40517a24c1b5299"
                + "8792d772a50c82494957ece00ca54550e8fcc759e0bf4e2431f7c895cba40cbcf0c6c78ba0ed",
            "2cc3e86ab9c455a3082a6e8897f72d272c3b81b9e48e209f4b17732ada5c3fa40f5c8eebde3472cab7dd6823ca17b1754d88679ce977"
                + "59d20bf42ff4c90de790"
        ),
        (
            "RSA of 1024 bits",
            "30819f300d06092a864886f70d010101050003818d0030818902818100b576e2a4d668d067a0974f8ef841679fc2c79fedf3810ebd95"
                + "6338c5deb73dd0f9d5eeb6756c88883a66ccd5ba00f02f1c3b14f5a8ad169348d56625637b59ce49847867cc64ee8390a61e"
                + "0a431b30b8845d70821bc23d2aa34f6fcd1a77a221c6319d6a76f7fa67a980431aa4f121212986c8a2540dcde8fde4b46ccd"
                + "60294b0203010001",
            "5748dde5b6bd24754dbc204a9fa380fcb4cc7ca2000ee623bba4c5369466d57dad185c4a572642cd45091b53c578187a51c747ebeefa"
                + "a9f16a036ba2b86245062719fe69cf9e89116b347920325d476cc790b47273cde9becfc9cd3f5ce4a1571117d62037505158"
                + "c5f7eeae72fa7772002af10e9c049e4bae4adf4aae16f802"
        ),
    ]

    @Test(arguments: strangeKeys)
    func `a valid signature under an unsupported key is refused`(name: String, key: String, signature: String) throws {
        let key = try #require(PublicKey(der: Self.bytes(key)))
        let signature = Self.bytes(signature)
        #expect(!key.verifiesES256(signature, over: Array("Till".utf8)))
        #expect(!key.verifiesRSA(signature, over: Array("Till".utf8), digest: .sha256))
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        stride(from: 0, to: hexadecimal.count, by: 2).compactMap {
            UInt8(hexadecimal.dropFirst($0).prefix(2), radix: 16)
        }
    }
}
