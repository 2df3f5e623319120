import Foundation
import Proofs
import TestSupport
import Testing

/// Apple's own artifacts, if they are available.
@Suite(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"))
struct VectorTests {
    private func verify(_ file: URL) throws -> VerifiedProof {
        let folder = try #require(Vectors.folder).appending(path: "certs", directoryHint: .isDirectory)
        let verifier = ProofVerifier(anchors: try TrustAnchors(folders: [folder]), clock: SystemClock())
        return try verifier.verify(
            try Vectors.proof(file), expecting: ProofExpectations(origins: Set(Origin.allCases)))
    }

    @Test func `the vectors are present`() {
        #expect(Vectors.files("receipts").count >= 9)
        #expect(Vectors.files("jws").count >= 9)
    }

    @Test(arguments: Vectors.files("receipts", prefix: "apple-") + Vectors.files("jws", prefix: "apple-"))
    func `Apple's proofs are verified`(file: URL) throws {
        #expect(try verify(file).origin == .appleSandbox)
    }

    @Test(arguments: Vectors.files("receipts") + Vectors.files("jws"))
    func `a kept proof is restored`(file: URL) throws {
        let proof = try Vectors.proof(file)
        let kept = KeptProof(proof, digest: [])
        let assembled = try #require(KeptProof.assemble(kept.bytes, kept.certificates))
        #expect(assembled == proof || Base64.encode(assembled) == String(decoding: proof, as: UTF8.self))
        if file.lastPathComponent.hasPrefix("apple-") { #expect(kept.certificates.count == 3) }
    }

    @Test(arguments: Vectors.files("receipts", prefix: "xcode-"))
    func `Xcode's proofs are verified`(file: URL) throws {
        #expect(try verify(file).origin == .xcode)
    }

    @Test(arguments: Vectors.files("receipts", prefix: "untrusted-") + Vectors.files("jws", prefix: "untrusted-"))
    func `other signers' proofs are refused`(file: URL) {
        #expect(throws: ProofRefusal.self) { try verify(file) }
    }

    @Test(arguments: [
        ("dev.bonzer.weeka.app", "956328D9CC6A47F4BE406953FB0AB6C7"),
        ("com.hannesoid.PurchasingExperiments", "e618109862dd433fbb94675d3815d263"),
    ])
    func `a receipt is bound to its device`(app: String, device: String) throws {
        let file = try #require(Vectors.files("receipts").first { $0.lastPathComponent.contains(app) })
        let digits = device.compactMap(\.hexDigitValue)
        let identifier = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        guard case .appReceipt(let receipt) = try verify(file).content else { return }
        #expect(receipt.isValid(forDevice: identifier))
        #expect(!receipt.isValid(forDevice: Array(identifier.reversed())))
    }

    @Test func `the receipts match their index`() throws {
        let index = try #require(Vectors.folder).appending(path: "vectors.json", directoryHint: .notDirectory)
        guard case .object(let root) = try JSONParser.parse([UInt8](Data(contentsOf: index))),
            case .array(let rows) = root["receipts"]
        else {
            Issue.record("the index has another form")
            return
        }
        for case .object(let row) in rows where row["trusted"] != "no" {
            guard case .string(let name) = row["file"] else { continue }
            let file = try #require(Vectors.folder).appending(path: name, directoryHint: .notDirectory)
            let proof = try verify(file)
            #expect(row["bundleId"] == proof.bundleIdentifier.map { .string($0) })
            #expect(row["creationDate"] == .string(proof.signedAt.rfc3339))
            #expect(row["inAppPurchases"] == proof.purchases.map { .integer($0.count) })
        }
    }
}
