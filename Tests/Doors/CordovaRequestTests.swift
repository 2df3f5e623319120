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

    /// The body that the plugin makes on Android, where the product names the request.
    @Test func `a signed purchase of Google Play is read with its signature, byte for byte`() throws {
        let read = try request(
            #"""
            { "id": "garden.gate", "type": "non consumable", "offers": [],
              "transaction": { "type": "android-playstore", "id": "GPA.3345-1111-2222-33333", "purchaseToken": "aaaa.AO-J1O",
                "signature": "c2lnbmVk", "receipt": "{\"packageName\":\"com.example.garden\",\"note\":\"a\\/b\"}" },
              "additionalData": { "applicationUsername": "alice", "obfuscatedUsername": "6384e2b2184bcbf58eccf10ca7a6563c" } }
            """#)
        #expect(read.kind == .googlePlay)
        #expect(read.identifier == "GPA.3345-1111-2222-33333")
        let signed = try #require(try SignedPurchase(json: read.proof))
        #expect(String(decoding: signed.data, as: UTF8.self) == #"{"packageName":"com.example.garden","note":"a\/b"}"#)
        #expect(String(decoding: signed.signature, as: UTF8.self) == "c2lnbmVk")
        #expect(read.obfuscatedUsername == "6384e2b2184bcbf58eccf10ca7a6563c")
    }

    @Test func `without a signature, the purchase token is the proof`() throws {
        let token = #"{"purchaseToken":"aaaabbbbccccddddeeeeffff.AO-J1Oz_-"}"#
        for rest in ["", #","signature":"","receipt":"{}""#, #","signature":"c2ln","receipt":null"#] {
            let read = try request(
                #"""
                { "transaction": { "type": "android-playstore", "purchaseToken": "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"\#(rest) } }
                """#)
            #expect(read.proof == Array(token.utf8))
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"transaction":[]}"#, #"{"transaction":{"type":"apple-sk2"}}"#,
        #"{"transaction":{"type":"apple-sk2","jwsRepresentation":""}}"#,
        #"{"transaction":{"type":"apple-sk2","appStoreReceipt":"MIIT"}}"#,
        #"{"transaction":{"type":"apple-sk2","jwsRepresentation":1}}"#,
        #"{"transaction":{"type":"android-playstore"}}"#,
        #"{"transaction":{"type":"android-playstore","purchaseToken":"a b"}}"#,
        #"{"transaction":{"type":"android-playstore","purchaseToken":"\#(String(repeating: "a", count: 513))"}}"#,
        #"{"transaction":{"type":"android-playstore","receipt":1,"signature":"s"}}"#,
        #"{"transaction":{"type":"android-playstore","receipt":"\u0000","signature":"s"}}"#,
        #"{"transaction":{"type":"windows-store-transaction","receipt":"{}","signature":"s"}}"#,
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
        let data = proof.prefix(SignedPurchase.maximumSize + 1)
        let signature = proof.prefix(SignedPurchase.maximumSignatureSize + 1)
        for (data, signature) in [(data, "c2ln"), ("{}", signature)] {
            #expect(throws: Problem.self) {
                try request(
                    #"{"transaction":{"type":"android-playstore","receipt":"\#(data)","signature":"\#(signature)"}}"#)
            }
        }
    }
}
