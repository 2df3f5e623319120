import Proofs
import TestSupport
import Testing

/// The receipts of Unity IAP around the proofs of the App Store.
@Suite struct UnityReceiptTests {
    private let ellipticCurve: CertificateChain
    private let rsa: CertificateChain
    private let verifier: ProofVerifier

    init() throws {
        ellipticCurve = try TestChains.ellipticCurve.get()
        rsa = try TestChains.rsa.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(ellipticCurve, rsa), clock: ManualClock())
    }

    /// The proofs of an app: the DER of a receipt, the same in base64, and a signed transaction.
    private func proofs() throws -> [[UInt8]] {
        let receipt = try TestProofs.signed(chain: rsa)
        return [
            receipt, Array(Base64.encode(receipt).utf8), try TestProofs.transaction(chain: ellipticCurve),
        ]
    }

    private static func envelope(_ members: JSONObject) -> [UInt8] { Array(JSONValue.object(members).compactText.utf8) }

    private static func envelope(around proof: [UInt8], store: String = "AppleAppStore") -> [UInt8] {
        envelope([
            "Payload": .string(String(decoding: proof, as: UTF8.self)), "Store": .string(store),
            "TransactionID": "2000000000000001",
        ])
    }

    private func refusal(of proof: [UInt8]) -> ProofRefusal? {
        do {
            _ = try verifier.verify(proof, expecting: ProofExpectations())
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["AppleAppStore", "MacAppStore"])
    func `a proof inside a receipt of Unity is the same proof`(store: String) throws {
        for proof in try proofs().dropFirst() {
            let bare = try verifier.verify(proof, expecting: ProofExpectations())
            let enclosed = Self.envelope(around: proof, store: store)
            let verified = try verifier.verify(enclosed, expecting: ProofExpectations())
            #expect(verified.digest == bare.digest)
            #expect(verified.purchases == bare.purchases)
            #expect(verified.origin == bare.origin)
            #expect(verified.chains == bare.chains)
            let kept = KeptProof(enclosed, digest: verified.digest)
            #expect(kept == KeptProof(proof, digest: bare.digest))
            #expect(!kept.certificates.isEmpty)
            let inspection = verifier.inspect(enclosed)
            #expect(inspection.kind == verifier.inspect(proof).kind)
            #expect(inspection.defects.isEmpty)
        }
    }

    @Test func `the order of the members, other members and escaped characters do not matter`() throws {
        let proof = String(decoding: try proofs()[1], as: UTF8.self)
        let escaped = proof.replacing("/", with: #"\/"#).replacing("+", with: #"\u002b"#)
        for text in [
            #"{"Store":"AppleAppStore","TransactionID":"1","Payload":"\#(escaped)"}"#,
            #"{"Payload":"\#(proof)","Store":"AppleAppStore"}"#,
            #"{ "Payload" : "\#(proof)", "TransactionID": null, "AppReceipt": "", "Store" : "AppleAppStore" }"#,
        ] {
            #expect(refusal(of: Array(text.utf8)) == nil, "\(text.prefix(60))")
        }
    }

    @Test(arguments: [
        #"{}"#,
        #"{"Store":"AppleAppStore"}"#,
        #"{"Store":"AppleAppStore","Payload":""}"#,
        #"{"Store":"AppleAppStore","Payload":null}"#,
        #"{"Store":"AppleAppStore","Payload":{"a.b":"c"}}"#,
        #"{"Store":1,"Payload":"a.b.c"}"#,
        #"{"Store":"AppleAppStore","Payload":"a.b.c""#,
        #"{"Store":"AppleAppStore","Payload":"hello"}"#,
    ])
    func `another JSON object is refused`(text: String) {
        #expect(refusal(of: Array(text.utf8))?.reason == .encodingInvalid)
    }

    @Test(arguments: ["GooglePlay", "AmazonApps", "fake", "appleappstore", "AppleAppStore\u{0}", ""])
    func `the receipt of another store is refused, whatever it contains`(store: String) throws {
        for proof in try proofs().dropFirst() {
            let refusal = refusal(of: Self.envelope(around: proof, store: store))
            #expect(refusal?.reason == .encodingInvalid)
            #expect(refusal?.message.contains("Google Play") == (store == "GooglePlay"))
        }
    }

    @Test func `a missing member is refused`() throws {
        let proof = String(decoding: try proofs()[2], as: UTF8.self)
        #expect(refusal(of: Self.envelope(["Payload": .string(proof)]))?.reason == .encodingInvalid)
        #expect(refusal(of: Self.envelope(["Store": "AppleAppStore"]))?.reason == .encodingInvalid)
        #expect(refusal(of: Self.envelope(["payload": .string(proof), "store": "AppleAppStore"])) != nil)
    }

    @Test func `a receipt of Unity inside another one is refused`() throws {
        for proof in try proofs().dropFirst() {
            let nested = Self.envelope(around: Self.envelope(around: proof))
            #expect(refusal(of: nested)?.reason == .encodingInvalid)
        }
    }

    @Test(arguments: ["Store", "Payload", "TransactionID"])
    func `a repeated member is refused`(name: String) throws {
        let proof = String(decoding: try proofs()[2], as: UTF8.self)
        let members = #""Payload":"\#(proof)","Store":"AppleAppStore","TransactionID":"1""#
        #expect(refusal(of: Array("{\(members)}".utf8)) == nil)
        #expect(refusal(of: Array(#"{"\#(name)":"AppleAppStore",\#(members)}"#.utf8))?.reason == .encodingInvalid)
    }

    @Test func `a receipt of Unity above the maximum size is not parsed`() throws {
        let fill = [UInt8](repeating: UInt8(ascii: "A"), count: ProofVerifier.maximumTextSize)
        #expect(refusal(of: Self.envelope(around: fill))?.reason == .tooLarge)
        // The limit of a JWS is that of the bare one.
        let compact = [UInt8](repeating: UInt8(ascii: "."), count: ProofVerifier.maximumCompactSize + 1)
        #expect(refusal(of: Self.envelope(around: compact))?.reason == .tooLarge)
    }

    @Test func `a changed proof inside a receipt of Unity is refused like the bare one`() throws {
        var proof = try TestProofs.transaction(chain: ellipticCurve)
        let index = try #require(proof.lastIndex(of: UInt8(ascii: "."))) + 3
        proof[index] = proof[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(refusal(of: Self.envelope(around: proof)) == refusal(of: proof))
        #expect(refusal(of: proof)?.reason == .signatureInvalid)
    }
}
