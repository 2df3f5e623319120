import Entitlements
import Foundation
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Purchase tokens and signed proofs, searched for in the answers of the doors to a stranger: somebody with the public key of the app, who
/// knows a customer's id and has purchases of his own.
@Suite struct SecretDoorTests {
    private static let user = "alice"

    let door: DoorGarden
    let purchases: SecretPurchases
    private let key: PrivateKey

    init() async throws {
        key = try PrivateKey.generateRSA()
        door = try await DoorGarden(appKeys: [SecretPurchases.appKey(key)])
        purchases = try await SecretPurchases(
            of: #require(CustomerIdentifier(Self.user)).user, named: "alice", in: door.entitlements,
            at: door.garden, signedBy: key)
    }

    /// The requests of a stranger at each door, for all kinds of proofs.
    private func requests() throws -> [(HTTPRequest.Method, path: String, JSONValue?)] {
        let (seeds, season) = (
            try door.buy("garden.seeds", account: "stranger"), try door.buy("garden.season", account: "stranger")
        )
        let signed = try TestPurchase(
            of: "garden.gate", by: key, token: "strangers-token", changing: [("orderId", nil)]
        ).signed
        let receipt = try door.garden.store.receipt(account: "stranger")
        func receipts(_ proof: String, _ product: String) -> JSONValue {
            .object([
                "app_user_id": .string(Self.user), "fetch_token": .string(proof), "product_id": .string(product),
                "is_restore": .bool(false),
            ])
        }
        func verify(_ proof: String) -> JSONValue { .object(["store": "apple", "jws": .string(proof)]) }
        let attributes: JSONValue = .object([
            "attributes": .object(["level": .object(["value": "3", "updated_at_ms": .integer(1)])])
        ])
        return [
            (.get, DoorGarden.path(of: Self.user), nil),
            (.get, DoorGarden.path(of: Self.user, "/offerings"), nil),
            (.get, DoorGarden.path(of: Self.user, "/virtual_currencies"), nil),
            (.post, DoorGarden.path(of: Self.user, "/attributes"), attributes),
            (
                .post, DoorGarden.path(of: Self.user, "/intro_eligibility"),
                .object(["product_identifiers": .array(["garden.premium.monthly"])])
            ),
            (.post, "/v1/receipts", receipts(seeds.proof, "garden.seeds")),
            (.post, "/v1/receipts", receipts(receipt, "garden.season")),
            (.post, CordovaMiddleware.path, CordovaLifeTests.body(season.proof, username: Self.user)),
            (.post, CordovaMiddleware.path, CordovaLifeTests.body(season.proof)),
            (
                .post, CordovaMiddleware.path,
                CordovaGooglePlayTests.body(
                    signed, of: "garden.gate", username: Self.user, changing: ["purchaseToken": "strangers-token"])
            ),
            (.post, "/v1/purchase/verify", verify(season.proof)),
            (
                .post, "/v1/subscribers/identify",
                .object(["app_user_id": "$RCAnonymousID:0", "new_app_user_id": .string(Self.user)])
            ),
            (.get, DoorGarden.path(of: Self.user), nil),
        ]
    }

    @Test func `no door tells a stranger a token or a proof`() async throws {
        var answers: [String] = []
        for (method, path, body) in try requests() {
            let answer = try await door.send(method, path, body)
            #expect(answer.status < 300, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
            let fields = answer.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            let text = "\(fields)\n\(String(decoding: answer.body, as: UTF8.self))"
            let leaks = purchases.leaked(in: text, to: path + (body?.compactText ?? ""))
            #expect(leaks.isEmpty, "\(method) \(path)")
            answers.append(text)
        }
        // The customer's purchases are in the answers, by their orders and names.
        for order in ["GPA.1000-alice", "GPA.4000-alice"] {
            #expect(answers.contains { $0.contains(order) }, "\(order)")
        }
        let name = try await door.ledger.tokenNames.name(of: "secret-season-alice.AO-J1Oz12x")
        #expect(answers.contains { $0.contains(name) })
    }
}
