import HTTPSupport
import Proofs
import Service
import Testing

/// The bodies that cordova-plugin-purchase sends.
@Suite struct CordovaRequestTests {
    private func request(_ text: String) throws -> CordovaRequest { try CordovaRequest(Array(text.utf8)) }

    @Test func `a signed transaction and the customer's id are read, and the rest is ignored`() throws {
        let read = try request(
            """
            { "id": "com.example.garden", "type": "application", "currency": "EUR",
              "products": [ { "id": "garden.gate", "offers": [] } ], "device": { "plugin": "cordova-plugin-purchase/13" },
              "additionalData": { "applicationUsername": "alice", "obfuscatedUsername": "6384e2b2" },
              "transaction": { "type": "apple-sk2", "id": "garden.gate", "jwsRepresentation": "a.b.c" } }
            """)
        #expect(read.kind == .signedTransaction)
        #expect(read.identifier == "garden.gate")
        #expect(read.proof == Array("a.b.c".utf8))
        #expect(read.username == "alice")
        #expect(read.obfuscatedUsername == "6384e2b2")
    }

    @Test func `an app receipt without an id is read`() throws {
        let read = try request(
            """
            { "transaction": { "type": "ios-appstore", "id": "appstore.application", "appStoreReceipt": "MIIT" },
              "additionalData": { "applicationUsername": "" } }
            """)
        #expect(read.kind == .appReceipt)
        #expect(read.proof == Array("MIIT".utf8))
        #expect(read.username == nil)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"transaction":[]}"#, #"{"transaction":{"type":"apple-sk2"}}"#,
        #"{"transaction":{"type":"apple-sk2","jwsRepresentation":""}}"#,
        #"{"transaction":{"type":"apple-sk2","appStoreReceipt":"MIIT"}}"#,
        #"{"transaction":{"type":"apple-sk2","jwsRepresentation":1}}"#,
        #"{"transaction":{"type":"android-playstore","purchaseToken":"t","receipt":"{}","signature":"s"}}"#,
        #"{"transaction":{"type":"apple-sk2","jwsRepresentation":"a.b.c"},"additionalData":1}"#,
        #"{"transaction":{"type":"apple-sk2","jwsRepresentation":"a.b.c"},"additionalData":{"applicationUsername":1}}"#,
    ])
    func `another body is invalid`(text: String) throws {
        let problem = #expect(throws: Problem.self) { try request(text) }
        #expect(problem?.code == "bodyInvalid")
    }

    @Test func `a longer proof than any of Apple's is not read`() throws {
        let proof = String(repeating: "A", count: ProofVerifier.maximumTextSize + 1)
        #expect(throws: Problem.self) {
            try request(#"{"transaction":{"type":"ios-appstore","appStoreReceipt":"\#(proof)"}}"#)
        }
    }
}
