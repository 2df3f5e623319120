import Foundation
import Proofs
import TestSupport
import Testing

/// Purchase tokens as apps present them.
@Suite struct GooglePlayTokenTests {
    private static let text =
        #"{"purchaseToken":"aaaabbbbccccddddeeeeffff.AO-J1Oz_-","packageName":"com.example.garden","productId":"seeds"}"#

    @Test func `a token is read, and written as it was read`() throws {
        let token = try #require(try GooglePlayToken(json: Array(Self.text.utf8)))
        #expect(token.purchaseToken == "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(token.packageName == "com.example.garden" && token.productId == "seeds")
        #expect(token.json.compactText == Self.text)
        let bare = try #require(try GooglePlayToken(json: Array(#"{"purchaseToken":"t"}"#.utf8)))
        #expect(bare.packageName == nil && bare.productId == nil)
        #expect(bare.json.compactText == #"{"purchaseToken":"t"}"#)
    }

    @Test(arguments: [
        "", "t", "[]", #""purchaseToken""#, #"{"purchase":"{}","signature":""}"#, #"{"token":"t"}"#,
        #"{"purchaseToken":"t","purchaseToken":"u"}"#, #"{"purchaseToken":"t""#, #"{"purchaseToken":"t"}}"#,
    ]) func `other bytes are no token`(text: String) throws {
        #expect(try GooglePlayToken(json: Array(text.utf8)) == nil)
    }

    static let refused = [
        #"{"purchaseToken":5}"#, #"{"purchaseToken":""}"#, #"{"purchaseToken":"a b"}"#, #"{"purchaseToken":"é"}"#,
        #"{"purchaseToken":"a\u0000"}"#, #"{"purchaseToken":"t","packageName":"garden"}"#,
        #"{"purchaseToken":"t","packageName":null}"#, #"{"purchaseToken":"t","productId":""}"#,
        #"{"purchaseToken":"\#(String(repeating: "x", count: 513))"}"#,
        #"{"purchaseToken":"t","productId":"\#(String(repeating: "x", count: 257))"}"#,
        // The signed data without its signature.
        #"{"orderId":"GPA.1","packageName":"com.example.garden","productId":"seeds","purchaseToken":"t"}"#,
    ]

    @Test(arguments: refused) func `a token in another form is refused`(text: String) {
        let refusal = #expect(throws: ProofRefusal.self) { try GooglePlayToken(json: Array(text.utf8)) }
        #expect(refusal?.reason == .encodingInvalid)
    }

    @Test func `an object that is larger than any of a token is none`() throws {
        let text = #"{"purchaseToken":"t","productId":""# + String(repeating: " ", count: 7000) + #""}"#
        #expect(try GooglePlayToken(json: Array(text.utf8)) == nil)
    }

    @Test func `the verifier refuses a token, which has no signature`() throws {
        let verifier = ProofVerifier(anchors: try TrustAnchors([]), clock: ManualClock())
        let refusal = #expect(throws: ProofRefusal.self) {
            try verifier.verify(
                Array(Self.text.utf8), expecting: ProofExpectations(origins: Set(Origin.allCases)))
        }
        #expect(refusal?.reason == .serviceAccountMissing)
        #expect(refusal?.message.contains("service account") == true)
        #expect(refusal?.message.contains("AO-J1O") == false)
        let pasted = PastedProof.proof(in: Array(" \n\(Self.text)\n".utf8))
        #expect(String(decoding: pasted, as: UTF8.self) == Self.text)
    }
}

/// The key files of service accounts.
@Suite struct GoogleServiceAccountTests {
    private static let key = Result { try PrivateKey.generateRSA() }

    /// A key file with other members. A value is JSON; nil leaves the member out.
    private static func file(_ changes: [String: JSONValue?] = [:]) throws -> [UInt8] {
        var members: [String: JSONValue?] = [
            "type": "service_account", "project_id": "p", "private_key_id": "0123abcd",
            "private_key": .string(try key.get().pem()), "client_email": "till@p.iam.gserviceaccount.com",
            "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token", "universe_domain": "googleapis.com",
        ]
        for (name, value) in changes { members[name] = .some(value) }
        var object = JSONObject()
        for (name, value) in members { if let value { _ = object.add(name, value) } }
        return JSONValue.object(object).compactBytes
    }

    @Test func `an assertion is signed by the account's key, for an hour`() throws {
        let account = try GoogleServiceAccount(json: try Self.file())
        #expect(account.email == "till@p.iam.gserviceaccount.com")
        #expect(account.tokenURL.absoluteString == "https://oauth2.googleapis.com/token")
        let parts = try account.assertion(at: Timestamp(secondsSince1970: 1_790_000_000)).split(separator: ".")
        #expect(parts.count == 3)
        let texts = try parts.prefix(2).map { part in
            String(decoding: try #require(Base64.decode(part.utf8, .urlSafe)), as: UTF8.self)
        }
        #expect(
            texts == [
                #"{"alg":"RS256","typ":"JWT","kid":"0123abcd"}"#,
                #"{"iss":"till@p.iam.gserviceaccount.com","scope":"https://www.googleapis.com/auth/androidpublisher","#
                    + #""aud":"https://oauth2.googleapis.com/token","iat":1789999970,"exp":1790003570}"#,
            ])
        let signature = try #require(Base64.decode(parts[2].utf8, .urlSafe))
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        #expect(try Self.key.get().publicKey.verifiesRSA(signature, over: signed, digest: .sha256))
    }

    @Test func `a local address of tokens may have HTTP`() throws {
        for address in ["http://127.0.0.1:8082/token", "http://localhost/token", "https://play.test/token"] {
            #expect(
                try GoogleServiceAccount(json: try Self.file(["token_uri": .string(address)])).tokenURL.path == "/token"
            )
        }
    }

    @Test(
        arguments: [
            (["type": "authorized_user"], .otherType), (["type": nil], .memberMissing("type")),
            (["client_email": nil], .memberMissing("client_email")),
            (["client_email": .integer(5)], .memberMissing("client_email")),
            (["client_email": "a\nb"], .memberMissing("client_email")),
            (["client_email": .string(String(repeating: "x", count: 257))], .memberMissing("client_email")),
            (["private_key_id": .array([])], .memberMissing("private_key_id")),
            (["token_uri": nil], .memberMissing("token_uri")),
            (["token_uri": "http://oauth2.googleapis.com/token"], .tokenURLInsecure),
            (["token_uri": "ftp://127.0.0.1/token"], .tokenURLInsecure),
            (["token_uri": "https://a@oauth2.googleapis.com/token"], .tokenURLInsecure),
            (["token_uri": "token"], .tokenURLInsecure), (["private_key": nil], .memberMissing("private_key")),
            (["private_key": "secret text"], .keyInvalid),
            (["padding": .string(String(repeating: "x", count: 20_000))], .tooLarge),
        ] as [([String: JSONValue?], GoogleServiceAccountError)])
    func `another file is refused, and its content stays out of the error`(
        changes: [String: JSONValue?], error: GoogleServiceAccountError
    ) throws {
        let file = try Self.file(changes)
        let thrown = #expect(throws: GoogleServiceAccountError.self) { try GoogleServiceAccount(json: file) }
        #expect(thrown == error)
        #expect(thrown?.message.contains("secret") == false && thrown?.message.contains("BEGIN") == false)
    }

    @Test func `a key of another kind is refused`() throws {
        for key in [try PrivateKey.generate(.p256), try PrivateKey.generate(.p384)] {
            let file = try Self.file(["private_key": .string(try key.pem())])
            #expect(throws: GoogleServiceAccountError.keyInvalid) { try GoogleServiceAccount(json: file) }
        }
        for text in ["", "[]", "no JSON", #"{"type":"service_account","type":"service_account"}"#] {
            #expect(throws: GoogleServiceAccountError.notJSON) { try GoogleServiceAccount(json: Array(text.utf8)) }
        }
    }
}
