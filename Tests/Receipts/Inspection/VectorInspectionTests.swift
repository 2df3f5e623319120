import Foundation
import Proofs
import TestSupport
import Testing

/// The decoding of Apple's own artifacts, if they are available.
@Suite(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"))
struct VectorInspectionTests {
    private func verifier() throws -> ProofVerifier {
        let folder = try #require(Vectors.folder).appending(path: "certs", directoryHint: .isDirectory)
        return ProofVerifier(anchors: try TrustAnchors(folders: [folder]), clock: SystemClock())
    }

    /// The kind of a proof, by the name of its file.
    private func kind(of file: URL) -> ProofInspection.Kind {
        let name = file.lastPathComponent
        if name.hasSuffix(".b64") { return .appReceipt }
        if name.contains("_txn") { return .transaction }
        return name.contains("_renewal") ? .renewalInfo : .notification
    }

    @Test(arguments: Vectors.files("receipts") + Vectors.files("jws"))
    func `every proof is decoded, whoever signed it`(file: URL) throws {
        let inspection = try verifier().inspect(try Vectors.proof(file))
        #expect(inspection.kind == kind(of: file))
        #expect(inspection.header?.fields.isEmpty == false)
        #expect(inspection.payload?.fields.isEmpty == false)
        #expect(!inspection.certificates.isEmpty)
        #expect(inspection.certificates.allSatisfy { $0.certificate != nil })
        #expect(inspection.signature?.bytes?.isEmpty == false)
        #expect(inspection.moment < SystemClock().now())
    }

    @Test(arguments: Vectors.files("receipts", prefix: "apple-") + Vectors.files("jws", prefix: "apple-"))
    func `Apple's proofs lead to Apple's root, with their signature and date`(file: URL) throws {
        let proof = try Vectors.proof(file)
        let inspection = try verifier().inspect(proof)
        let verified = try verifier().verify(proof, expecting: ProofExpectations(origins: Set(Origin.allCases)))
        #expect(inspection.anchor?.realm == .apple)
        #expect(inspection.digest == verified.digest)
        #expect(inspection.moment == verified.signedAt)
        #expect(inspection.signature?.matchesSigner == true)
        #expect(inspection.defects.isEmpty)
        #expect(inspection.certificates.count == 3)
        #expect(inspection.certificates.count(where: \.isSigner) == 1)
        #expect(inspection.certificates.allSatisfy { $0.isOnTrustedPath })
        let signer = try #require(inspection.certificates.first(where: \.isSigner)?.certificate)
        #expect(signer.fingerprint == verified.fingerprints.leaf)
        #expect(signer.appleExtensions.contains(AppleExtension.receiptSigning.rawValue))
        if let purchases = verified.purchases {
            #expect(purchaseNames(inspection) == purchases.map(\.productIdentifier))
        }
        if let inner = verified.notifiedTransaction {
            let nested = try #require(inspection.payload?["data"]?["signedTransactionInfo"]?.proof)
            #expect(nested.kind == .transaction)
            #expect(nested.payload?["transactionId"]?.text == inner.transactionId)
            #expect(nested.payload?["purchaseDate"]?.date == inner.purchaseDate)
            #expect(nested.digest == verified.notifiedTransactionProof?.digest)
            #expect(nested.anchor?.realm == .apple)
        }
    }

    /// The products of the purchases in a proof.
    private func purchaseNames(_ inspection: ProofInspection) -> [String] {
        let fields = inspection.payload?.fields ?? []
        let inReceipt = fields.filter { $0.attribute == 17 }.compactMap { $0.value["productId"]?.text }
        return inReceipt.isEmpty ? [inspection.payload?["productId"]?.text].compactMap(\.self) : inReceipt
    }

    @Test(arguments: Vectors.files("receipts", prefix: "xcode-"))
    func `Xcode's receipt leads to Xcode's certificate`(file: URL) throws {
        let inspection = try verifier().inspect(try Vectors.proof(file))
        #expect(inspection.anchor?.realm == .xcode)
        #expect(inspection.signature?.matchesSigner == true)
        #expect(inspection.defects.isEmpty)
    }

    @Test func `another Xcode's transaction is its own signer under an unknown anchor`() throws {
        let file = try #require(Vectors.files("jws", prefix: "xcode-").first)
        let inspection = try verifier().inspect(try Vectors.proof(file))
        #expect(inspection.anchor == nil)
        #expect(inspection.certificateCount == 1)
        #expect(inspection.signature?.matchesSigner == true)
        // Xcode writes dates with a fraction.
        let date = try #require(inspection.payload?["signedDate"])
        #expect(date.date == Timestamp(millisecondsSince1970: 1_697_679_936_056))
    }

    @Test(
        arguments: (Vectors.files("receipts", prefix: "untrusted-") + Vectors.files("jws", prefix: "untrusted-"))
            .filter { !$0.lastPathComponent.contains("bad-signature") })
    func `another signer's anchor is unknown`(file: URL) throws {
        let inspection = try verifier().inspect(try Vectors.proof(file))
        #expect(inspection.anchor == nil)
        #expect(!inspection.certificates.contains { $0.isOnTrustedPath })
    }

    @Test func `a forged signature under Apple's certificates is shown as such`() throws {
        let file = try #require(Vectors.files("jws").first { $0.lastPathComponent.contains("bad-signature") })
        let inspection = try verifier().inspect(try Vectors.proof(file))
        #expect(inspection.anchor?.realm == .apple)
        #expect(inspection.signature?.matchesSigner == false)
    }
}
