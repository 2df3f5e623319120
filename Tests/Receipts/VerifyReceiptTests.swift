import Foundation
import Proofs
import TestSupport
import Testing

@Suite struct VerifyReceiptTests {
    private func answer(
        _ proof: [UInt8],
        environment: AppStoreEnvironment? = nil,
        trusting chains: CertificateChain...
    ) throws -> VerifyReceiptAnswer {
        let anchors = try TrustAnchors(chains.compactMap { try TrustAnchor($0.root.certificate) })
        let clock = ManualClock()
        return VerifyReceiptAnswer(
            to: proof, environment: environment, verifier: ProofVerifier(anchors: anchors, clock: clock),
            requestDate: clock.now())
    }

    @Test func `an error status is the whole answer`() throws {
        let chain = try TestChains.rsa.get()
        let sandbox = try TestProofs.signed(chain: chain)
        var production = TestProofs.receipt()
        production.receiptType = "Production"
        let bought = try TestProofs.signed(production, chain: chain)
        for (proof, environment, status): ([UInt8], AppStoreEnvironment?, VerifyReceiptAnswer.Status) in [
            (Array("foobar".utf8), nil, .malformed),
            (try TestProofs.transaction(chain: try TestChains.ellipticCurve.get()), nil, .notAuthenticated),
            (sandbox, .production, .sandboxReceiptSentToProduction),
            (bought, .sandbox, .productionReceiptSentToSandbox),
        ] {
            let answer = try answer(proof, environment: environment, trusting: chain)
            #expect(answer.status == status)
            #expect(answer.json.compactText == "{\"status\":\(status.rawValue)}")
        }
        #expect(try answer(sandbox).status == .notAuthenticated)
        #expect(try answer(sandbox, environment: .sandbox, trusting: chain).status == .valid)
        #expect(try answer(bought, trusting: chain).status == .valid)
    }

    @Test(arguments: [
        // The hours in which California's clocks are put forward and back.
        ("2026-03-08T09:59:59Z", "2026-03-08 01:59:59 America/Los_Angeles"),
        ("2026-03-08T10:00:00Z", "2026-03-08 03:00:00 America/Los_Angeles"),
        ("2026-11-01T08:59:59Z", "2026-11-01 01:59:59 America/Los_Angeles"),
        ("2026-11-01T09:00:00Z", "2026-11-01 01:00:00 America/Los_Angeles"),
        ("2013-08-01T07:00:00Z", "2013-08-01 00:00:00 America/Los_Angeles"),
    ])
    func `dates have three forms`(date: String, pacific: String) throws {
        let chain = try TestChains.rsa.get()
        var purchase = TestProofs.purchase()
        purchase.cancellationDate = Timestamp(rfc3339: date)
        let proof = try TestProofs.signed(TestProofs.receipt([purchase]), chain: chain)
        guard case .object(let root) = try answer(proof, trusting: chain).json,
            case .object(let receipt) = root["receipt"],
            case .array(let purchases) = receipt["in_app"], case .object(let bought) = purchases.first
        else {
            Issue.record("another form")
            return
        }
        #expect(bought["cancellation_date_pst"] == .string(pacific))
        #expect(bought["cancellation_date"] == .string(date.replacing("T", with: " ").replacing("Z", with: " Etc/GMT")))
        #expect(
            bought["cancellation_date_ms"]
                == purchase.cancellationDate.map { .string(String($0.millisecondsSince1970)) })
    }

    /// Apple's answers to real requests. Only the dates of the requests may differ.
    @Test(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"), arguments: Vectors.files("verifyreceipt"))
    func `answers equal Apple's`(file: URL) throws {
        guard case .object(let recording) = try JSONParser.parse([UInt8](Data(contentsOf: file))),
            case .object(let response) = recording["response"], case .string(let url) = recording["url"],
            let status = response["status"]
        else {
            Issue.record("the recording has another form")
            return
        }
        let proof: [UInt8]
        if case .string(let literal) = recording["receipt_data_literal"] {
            proof = Array(literal.utf8)
        } else if case .string(let digest) = recording["receipt_sha"] {
            let receipt = try #require(
                Vectors.files("receipts").first { $0.lastPathComponent.hasSuffix("_\(digest.prefix(8)).b64") })
            proof = try Vectors.proof(receipt)
        } else {
            Issue.record("the recording names no receipt")
            return
        }
        let folder = try #require(Vectors.folder).appending(path: "certs", directoryHint: .isDirectory)
        let answer = VerifyReceiptAnswer(
            to: proof, environment: url.contains("sandbox") ? .sandbox : .production,
            verifier: ProofVerifier(anchors: try TrustAnchors(folders: [folder]), clock: SystemClock()),
            requestDate: SystemClock().now())
        guard case .object(let json) = answer.json else { return }
        #expect(json["status"] == status)
        #expect(json["environment"] == response["environment"])
        guard case .object(let expected) = response["receipt"] else {
            #expect(json["receipt"] == nil)
            return
        }
        guard case .object(let receipt) = json["receipt"] else {
            Issue.record("the receipt is missing")
            return
        }
        // The order of the keys must match, too.
        #expect(receipt.keys == expected.keys)
        for member in expected.members where !member.key.hasPrefix("request_date") {
            #expect(receipt[member.key] == member.value, "\(member.key)")
        }
    }
}
