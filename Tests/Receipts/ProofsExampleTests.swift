import Foundation
import Proofs
import TestSupport
import Testing

/// The example in the documentation of the library `Proofs`. Its source is the file `ProofsExample.swift`.
@Suite struct ProofsExampleTests {
    private static let article = "Sources/Proofs/Documentation.docc/VerifyingProofs.md"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let root = try TestChains.ellipticCurve.get().root.certificate
        try Data(root.der).write(to: folder.file("root.cer"))
    }

    private func proof(changing changes: [String: JSONValue?] = [:]) throws -> String {
        // The date is before every clock of these tests.
        let standard: [String: JSONValue?] = [
            "bundleId": "com.example.garden", "productId": "garden.gate", "signedDate": .integer(1_700_000_000_000),
        ]
        let changes = standard.merging(changes) { $1 }
        let payload = TestProofs.transactionPayload(changing: changes)
        return String(
            decoding: try TestProofs.transaction(payload, chain: try TestChains.ellipticCurve.get()), as: UTF8.self)
    }

    @Test func `the article shows the example as it is compiled`() throws {
        let blocks = try Project.text(Self.article).components(separatedBy: "```").filter {
            $0.hasPrefix("swift\nimport ")
        }
        let example = try Project.text("Tests/Receipts/ProofsExample.swift")
        #expect(blocks == ["swift\n" + example])
        #expect(example.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count == 9)
    }

    @Test func `the article lists the steps in their order`() throws {
        let steps = try Project.text(Self.article).matches(of: /\n\d\. \*\*(\w+)\*\*/).map { String($0.1) }
        #expect(steps == ProofRefusal.Step.allCases.map(\.rawValue))
    }

    @Test func `the example reads the products of a proof`() throws {
        let names = try products(in: try proof(), trusting: folder.url, from: .localSandbox)
        #expect(names == ["garden.gate"])
    }

    @Test func `the example leaves out a purchase that was refunded`() throws {
        let refunded = try proof(changing: ["revocationDate": .integer(TestProofs.signedAt.millisecondsSince1970)])
        #expect(try products(in: refunded, trusting: folder.url, from: .localSandbox) == [])
    }

    @Test func `the example refuses a proof of another origin`() throws {
        let refusal = #expect(throws: ProofRefusal.self) {
            try products(in: try proof(), trusting: folder.url)
        }
        #expect(refusal?.code == "originNotAccepted")
    }

    @Test func `the example refuses a proof of another app`() throws {
        let other = try proof(changing: ["bundleId": "com.example.meadow"])
        let refusal = #expect(throws: ProofRefusal.self) {
            try products(in: other, trusting: folder.url, from: .localSandbox)
        }
        #expect(refusal?.code == "bundleIdentifierMismatch")
    }
}
