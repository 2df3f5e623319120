import Proofs
import Testing

@Suite struct PastedProofTests {
    @Test(arguments: [
        "eyJh.eyJi.c2ln", "  eyJh.\r\neyJi.\n c2ln\n", "\"eyJh.eyJi.c2ln\"", #"{"signedPayload":"eyJh.eyJi.c2ln"}"#,
        #"{ "id" : "7", "proof" : "eyJh.eyJi.c2ln", "count" : 12345678901234567890 }"#,
    ])
    func `a proof is found in what a person pastes`(paste: String) {
        #expect(PastedProof.proof(in: Array(paste.utf8)) == Array("eyJh.eyJi.c2ln".utf8))
    }

    @Test func `a receipt in DER stays as it is`() {
        let der: [UInt8] = [0x30, 0x82, 0x20, 0x0A, 0xFF]
        #expect(PastedProof.proof(in: der) == der)
    }

    @Test func `a text without a proof is only freed of its spaces`() {
        #expect(PastedProof.proof(in: Array("{ \"a\": 1".utf8)) == Array("{a:1".utf8))
        #expect(PastedProof.proof(in: []) == [])
    }
}
