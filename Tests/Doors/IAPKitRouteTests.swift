import AppStore
import Entitlements
import HTTPTypes
import Proofs
import TestSupport
import Testing

/// The route of `verifyPurchaseWithProvider`, with the real proofs of the local App Store.
@Suite struct IAPKitRouteTests {
    private static func body(_ proof: String, expecting product: String? = nil) -> JSONValue {
        var object: JSONObject = ["store": "apple", "jws": .string(proof)]
        if let product { _ = object.add("expectedProductId", .string(product)) }
        return .object(object)
    }

    /// Verifies a proof.
    ///
    /// - Returns: The state, and whether the purchase is valid, such as "ENTITLED true".
    private func state(
        _ door: DoorGarden,
        _ proof: String,
        expecting product: String? = nil,
        key: String? = nil
    ) async throws -> String {
        let answer = try await door.send(
            .post, "/v1/purchase/verify", Self.body(proof, expecting: product), key: key)
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(answer.headers[.contentType] == "application/json")
        guard case .string(let state)? = answer["state"], case .bool(let isValid)? = answer["isValid"] else {
            return ""
        }
        return "\(state) \(isValid)"
    }

    private func expectError(_ answer: DoorGarden.Answer, _ status: Int, _ code: String, path: String? = nil) {
        #expect(answer.status == status)
        #expect(answer.headers[.contentType] == "application/json")
        guard case .array(let errors)? = answer["errors"], errors.count == 1 else {
            Issue.record("\(String(decoding: answer.body, as: UTF8.self)) has no error")
            return
        }
        #expect(errors[0].at("code") == .string(code))
        #expect(errors[0].at("path") == path.map { JSONValue.string($0) })
        guard case .string(_)? = errors[0].at("message") else {
            Issue.record("The error has no message.")
            return
        }
    }

    @Test func `a closed door says that it is closed`() async throws {
        let door = try await DoorGarden([.cordova])
        let bought = try door.buy("garden.gate")
        let answer = try await door.send(.post, "/v1/purchase/verify", Self.body(bought.proof))
        expectError(answer, 400, "featureOff")
    }

    @Test func `a purchase is verified, and nothing is granted`() async throws {
        let door = try await DoorGarden([.iapkit])
        let bought = try door.buy("garden.gate")
        let answer = try await door.send(
            .post, "/v1/purchase/verify", Self.body(bought.proof, expecting: "garden.gate"))
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"store":"apple","isValid":true,"state":"ENTITLED","productId":"garden.gate","environment":"Sandbox"}"#
        )
        #expect(try await door.entitlements.purchases(ofTransaction: bought.identifier).isEmpty)
        let other = try await state(door, bought.proof, expecting: "garden.seeds")
        #expect(other == "INAUTHENTIC false")
    }

    @Test func `a refund that a notification states cancels a purchase that nobody has redeemed`() async throws {
        let door = try await DoorGarden([.iapkit])
        let bought = try door.buy("garden.gate")
        try door.garden.store.refund(bought.identifier)
        // The app still has the proof from before the refund.
        #expect(try await state(door, bought.proof) == "ENTITLED true")
        try await door.notify()
        #expect(try await state(door, bought.proof) == "CANCELED false")
        let refunded = try door.garden.store.signedTransaction(of: bought.identifier)
        #expect(refunded != bought.proof)
        #expect(try await state(door, refunded) == "CANCELED false")
    }

    @Test func `a redeemed consumable is not given a second time`() async throws {
        let door = try await DoorGarden([.iapkit])
        let bought = try door.buy("garden.seeds")
        #expect(try await state(door, bought.proof) == "READY_TO_CONSUME true")
        let key = try await door.keys.make(name: "back end", scopes: [.redeem, .read]).key
        let redeemed = try await door.send(
            .post, "/v1/users/alice/transactions", .object(["signedTransaction": .string(bought.proof)]), key: key)
        #expect(redeemed.status == 200)
        #expect(try await state(door, bought.proof, key: key) == "CONSUMED false")
        try door.garden.store.refund(bought.identifier)
        try await door.notify()
        #expect(try await state(door, bought.proof) == "CANCELED false")
    }

    @Test func `an old proof of a renewed subscription is entitled if the ledger knows the renewal`() async throws {
        let door = try await DoorGarden([.iapkit])
        let product = "garden.basic.monthly"
        let bought = try door.buy(product)
        #expect(try await state(door, bought.proof) == "ENTITLED true")
        let key = try await door.keys.make(name: "back end", scopes: [.redeem]).key
        let redeemed = try await door.send(
            .post, "/v1/users/alice/transactions", .object(["signedTransaction": .string(bought.proof)]), key: key)
        #expect(redeemed.status == 200)
        try door.garden.advance(to: "2026-12-01T00:00:00Z")
        #expect(try await state(door, bought.proof) == "EXPIRED false")
        try await door.notify()
        #expect(try await state(door, bought.proof) == "ENTITLED true")
        try door.garden.store.setAutoRenew(false, of: bought.identifier)
        try door.garden.advance(to: "2027-01-01T00:00:00Z")
        try await door.notify()
        #expect(try await state(door, bought.proof) == "EXPIRED false")
    }

    @Test func `a changed proof is inauthentic, and another form of proof is an error`() async throws {
        let door = try await DoorGarden([.iapkit])
        let bought = try door.buy("garden.gate")
        let forged = String(bought.proof.dropLast(6)) + "AAAAAA"
        #expect(try await state(door, forged) == "INAUTHENTIC false")
        let answer = try await door.send(.post, "/v1/purchase/verify", Self.body(forged))
        #expect(answer["productId"] == nil)
        let receipt = #"{"Store":"AppleAppStore","Payload":"\#(bought.proof)"}"#
        for other in ["", "MII=", "a.b", "a.b.c.d", "a..c", receipt, String(repeating: "a", count: 17_000)] {
            expectError(
                try await door.send(.post, "/v1/purchase/verify", Self.body(other)), 400, "bodyInvalid", path: "jws")
        }
    }

    @Test(arguments: ["horizon", "amazon", "Apple", "Google", ""])
    func `another store is refused`(store: String) async throws {
        let door = try await DoorGarden([.iapkit])
        let body: JSONValue = .object(["store": .string(store), "purchaseToken": "token", "jws": "a.b.c"])
        expectError(try await door.send(.post, "/v1/purchase/verify", body), 400, "bodyInvalid", path: "store")
    }

    @Test func `each error has the form of the protocol`() async throws {
        let door = try await DoorGarden([.iapkit])
        let bought = try door.buy("garden.gate")
        func send(_ body: JSONValue?, key: String? = nil) async throws -> DoorGarden.Answer {
            try await door.send(.post, "/v1/purchase/verify", body, key: key)
        }
        let valid = Self.body(bought.proof)
        expectError(try await send(valid, key: ""), 401, "unauthenticated")
        expectError(try await send(valid, key: "appl_unknown"), 401, "keyInvalid")
        let figures = try await door.keys.make(name: "figures", scopes: [.figures]).key
        expectError(try await send(valid, key: figures), 403, "scopeMissing")
        expectError(try await send(nil), 400, "bodyInvalid")
        expectError(try await send(.array([])), 400, "bodyInvalid")
        let large = JSONValue.object(["store": "apple", "jws": .string(String(repeating: "a", count: 40_000))])
        expectError(try await send(large), 413, "bodyTooLarge")
        let other = try await door.keys.makePublic(name: "other", app: "com.example.other", platform: .apple)
        expectError(try await send(valid, key: other.identifier), 503, "bundleIdentifierMismatch", path: "jws")
        let flag = JSONValue.object(["store": "apple", "jws": .string(bought.proof), "includeClientPayload": "yes"])
        expectError(try await send(flag), 400, "bodyInvalid", path: "includeClientPayload")

        let limited = try await DoorGarden([.iapkit], requests: 1)
        _ = try await limited.send(.post, "/v1/purchase/verify", .object([:]))
        let second = try await limited.send(.post, "/v1/purchase/verify", .object([:]))
        expectError(second, 429, "tooManyRequests")
        #expect(second.headers[.retryAfter] != nil)
    }

    @Test func `a receipt of Unity and the proof inside it are one purchase`() async throws {
        let door = try await DoorGarden([])
        let key = try await door.keys.make(name: "back end", scopes: [.redeem]).key
        let bought = try door.buy("garden.seeds")
        let unity = JSONValue.object([
            "Payload": .string(bought.proof), "Store": "AppleAppStore", "TransactionID": .string(bought.identifier),
        ]).compactText
        func redeem(_ field: String, _ proof: String) async throws -> DoorGarden.Answer {
            let name = field == "receipt" ? "receipts" : "transactions"
            return try await door.send(
                .post, "/v1/users/alice/\(name)", .object([field: .string(proof)]), key: key)
        }
        let first = try await redeem("receipt", unity)
        #expect(first.status == 200 && first["outcome"] == .string("granted"))
        for (field, proof) in [
            ("receipt", unity), ("signedTransaction", unity), ("signedTransaction", bought.proof),
        ] {
            let again = try await redeem(field, proof)
            #expect(again.status == 200 && again["outcome"] == .string("unchanged"))
        }
        let android = try await redeem("receipt", unity.replacing("AppleAppStore", with: "GooglePlay"))
        #expect(android.status >= 400 && android["code"] == .string("encodingInvalid"))
    }
}
