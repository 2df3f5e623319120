import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// Texts that no store can have signed, at every route for proofs.
@Suite struct GarbageProofTests {
    private static let appKey = Result { try PrivateKey.generateRSA().publicKey }

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    private static let proofs = [
        "!!!!", "AAAA", "null", "MII=", "MIIB", "a b", "...", "eyJ", "eyJ..", "eyJ.a.b", "eyJ.a.b.c", "eyJ\u{FFFD}.a.b",
        "한글", "\u{1}", "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ", "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2ln",
        "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", base64("{"), base64("[]"), base64("{}x"), base64("<?xml version=\"1.0\"?>"),
        base64(#"{"transactions":["eyJ.a"]}"#), base64(#"{"transactions":["eyJ.a.b"]}"#),
        base64(#"{"transactions":["eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2ln"]}"#), base64(#"{"transactions":[1]}"#),
        base64(#"{"transactions":{}}"#), base64(#"{"subscription_status":[]}"#), String(repeating: "A", count: 10_000),
        String(repeating: "eyJ.", count: 1000), base64("0" + String(repeating: "\u{1}", count: 3000)),
    ]

    @Test(arguments: proofs)
    func `an unreadable proof is refused for good, and is no error of the service`(proof: String) async throws {
        let appKey = AppKey(packageName: TestGarden.bundleIdentifier, publicKey: try Self.appKey.get())
        let door = try await DoorGarden(appKeys: [appKey])
        for isRestore in [true, false] {
            let answer = try await door.send(
                .post, "/v1/receipts",
                DoorGarden.receipt(proof, of: "alice", product: "garden.gate", isRestore: isRestore))
            #expect(answer.status == 400)
            #expect(answer["code"] == .integer(7103))
        }
        for kind in CordovaRequest.Kind.allCases {
            let answer = try await door.send(.post, CordovaMiddleware.path, CordovaLifeTests.body(proof, kind: kind))
            #expect(answer.status == 200)
            #expect(answer["ok"] == .bool(false))
            #expect(answer["code"] == .integer(CordovaRefusal.Number.verificationFailed.rawValue))
        }
        let iapKit = try await door.send(
            .post, "/v1/purchase/verify", .object(["store": "apple", "jws": .string(proof)]))
        #expect(iapKit.status == 400 || iapKit["state"] == .string("INAUTHENTIC"))
        let key = try await door.keys.make(name: "back end", scopes: [.read, .redeem]).key
        for (path, member) in [
            ("/v1/users/alice/receipts", "receipt"), ("/v1/users/alice/transactions", "signedTransaction"),
            ("/v1/proofs/verify", "proof"), ("/v1/notifications/apple", "signedPayload"),
        ] {
            let answer = try await door.send(.post, path, .object([member: .string(proof)]), key: key)
            #expect((400..<500).contains(answer.status), "\(path)")
        }
    }
}
