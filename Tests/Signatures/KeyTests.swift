import Foundation
import Signatures
import TestSupport
import Testing

@Suite struct KeyTests {
    static let message = Array("what was sold".utf8)

    @Test func aJWSSignatureHoldsForItsMessageAndKeyOnly() throws {
        let key = try PrivateKey.generate(.p256)
        let signature = try key.signES256(Self.message)
        #expect(signature.count == 64)
        #expect(key.publicKey.verifiesES256(signature, over: Self.message))
        #expect(!key.publicKey.verifiesES256(signature, over: Self.message + [0]))
        #expect(!(try PrivateKey.generate(.p256)).publicKey.verifiesES256(signature, over: Self.message))
    }

    @Test func signaturesOfEveryWidthOfRAndSHold() throws {
        // One signature in 128 has an r or s of 31 bytes or less, whose DER is shorter.
        let key = try PrivateKey.generate(.p256)
        for number in 0..<400 {
            let message = Array("message \(number)".utf8)
            #expect(key.publicKey.verifiesES256(try key.signES256(message), over: message))
        }
    }

    @Test func aJWSSignatureOutOfRangeIsRefused() throws {
        let key = try PrivateKey.generate(.p256)
        let signature = try key.signES256(Self.message)
        let zero = [UInt8](repeating: 0, count: 32)
        let tooLarge = [UInt8](repeating: 0xFF, count: 32)
        for forged in [
            zero + signature.suffix(32), signature.prefix(32) + zero, zero + zero, tooLarge + signature.suffix(32),
            signature.prefix(32) + tooLarge, Array(signature.prefix(63)), signature + [0], [],
        ] {
            #expect(!key.publicKey.verifiesES256(Array(forged), over: Self.message))
        }
    }

    @Test func keysOfOtherKindsNeitherSignNorVerifyES256() throws {
        for key in [try PrivateKey.generate(.p384), try TestChains.rsa.get().leaf.key] {
            #expect(throws: OpenSSLError.self) { try key.signES256(Self.message) }
            #expect(!key.publicKey.verifiesES256([UInt8](repeating: 1, count: 64), over: Self.message))
        }
    }

    @Test(arguments: [DigestAlgorithm.sha1, .sha256])
    func anRSASignatureHoldsForItsMessageAndDigestOnly(digest: DigestAlgorithm) throws {
        let key = try TestChains.rsa.get().leaf.key
        let signature = try key.signRSA(Self.message, digest: digest)
        #expect(key.publicKey.verifiesRSA(signature, over: Self.message, digest: digest))
        #expect(!key.publicKey.verifiesRSA(signature, over: Self.message, digest: digest == .sha1 ? .sha256 : .sha1))
        #expect(!key.publicKey.verifiesRSA(signature, over: Self.message + [0], digest: digest))
    }

    @Test func aKeySurvivesItsFile() throws {
        let key = try PrivateKey.generate(.p256)
        let read = try PrivateKey(pem: try key.pem())
        #expect(read.publicKey == key.publicKey)
        #expect(key.publicKey.verifiesES256(try read.signES256(Self.message), over: Self.message))
        #expect(throws: OpenSSLError.self) { try PrivateKey(pem: "no key") }
    }

    @Test func digestsAreThoseOfTheStandard() {
        #expect(DigestAlgorithm.sha256.digest(of: Array("abc".utf8)).hexadecimal.hasPrefix("ba7816bf8f01cfea"))
        #expect(
            DigestAlgorithm.sha1.digest(of: Array("abc".utf8)).hexadecimal == "a9993e364706816aba3e25717850c26c9cd0d89d"
        )
        #expect(DigestAlgorithm.sha384.digest(of: [UInt8]()).count == 48)
    }

    @Test func privateFilesAreTheirOwnersAlone() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("key.pem")
        try PrivateFile.create(Self.message, at: file)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try [UInt8](Data(contentsOf: file)) == Self.message)
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.create([], at: file) }
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.ensureExists(at: folder.file("none/key.pem")) }
    }
}
