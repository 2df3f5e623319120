import Foundation
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// The endpoints of RevenueCat's SDKs beside customer info, with the real proofs of the local App Store. Each answer with a
/// body is compared with the whole of the expected one.
@Suite struct RevenueCatEndpointTests {
    private typealias Expected = ExpectedAnswer

    @Test func `promotional offers are signed with the team's key`() async throws {
        let door = try await DoorGarden()
        func offer(_ identifier: String) -> JSONValue {
            .object(["offer_id": .string(identifier), "product_id": "garden.basic.monthly"])
        }
        let answer = try await door.send(
            .post, "/v1/offers",
            .object([
                "app_user_id": "0A0B0C0D-0000-4000-8000-000000000001",
                "generate_offers": .array([offer("spring"), offer("none")]),
            ]))
        #expect(try JSONSchema(named: "SignedOffers").violations(in: try #require(answer.json)) == [])
        let moment = try #require(Timestamp(rfc3339: Expected.start))
        try answer.expect(
            .object([
                "offers": .array([
                    .object([
                        "key_id": "key", "offer_id": "spring", "product_id": "garden.basic.monthly",
                        "signature_data": .object([
                            "nonce": "00010203-0405-0607-0809-0a0b0c0d0e0f",
                            "signature": .string(DoorGarden.signature),
                            "timestamp": .integer(moment.millisecondsSince1970),
                        ]),
                    ]),
                    .object([
                        "offer_id": "none", "product_id": "garden.basic.monthly",
                        "signature_error": Expected.error(
                            7232, "The catalog has no offer \"none\" of this product."),
                    ]),
                ])
            ]))
    }

    @Test func `nothing is finished that is not recorded`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy("garden.seeds")
        func send(_ body: JSONValue, key: String? = nil) async throws -> DoorGarden.Answer {
            try await door.send(.post, "/v1/receipts", body, key: key)
        }
        let receipt = DoorGarden.receipt(bought.proof, of: "alice", product: "garden.seeds")
        let forged = DoorGarden.receipt(
            String(bought.proof.dropLast(6)) + "AAAAAA", of: "alice", product: "garden.seeds")
        let refused = try await send(forged)
        #expect(refused.status == 400 && refused["code"] == .integer(7103))
        #expect(try JSONSchema(named: "Error").violations(in: try #require(refused.json)) == [])
        #expect(try await send(receipt, key: "appl_unknown").status == 503)
        #expect(try await send(receipt, key: "").status == 503)
        #expect(try await send(.array([])).status == 503)
        // The transaction counts, not the product that the app states. A receipt may be older than the purchase.
        let other = try door.buy("garden.gate")
        let stated = DoorGarden.receipt(other.proof, of: "alice", product: "garden.seeds")
        #expect(try await send(stated).status == 200)
        let old = DoorGarden.receipt(
            try door.garden.store.receipt(account: "bob"), of: "alice", product: "garden.seeds")
        #expect(try await send(old).status == 503)
        let long = DoorGarden.receipt(
            bought.proof, of: String(repeating: "x", count: 300), product: "garden.seeds")
        #expect(try await send(long).status == 503)
        try await send(receipt).expectCustomer(
            try Expected.customer(
                "alice", at: Expected.start,
                entitlements: ["gatekeeper": Expected.entitlement(by: "garden.gate", until: nil)],
                purchases: [
                    "garden.gate": Expected.purchase(other.identifier, price: 19_990),
                    "garden.seeds": Expected.purchase(bought.identifier, price: 990),
                ]))
    }

    @Test func `a closed door keeps receipts, and limits ask for them again`() async throws {
        let closed = try await DoorGarden([])
        let bought = try closed.buy("garden.seeds")
        let kept = try await closed.redeem(bought.proof, of: "alice", product: "garden.seeds")
        #expect(kept.status == 503 && kept["code"] == .integer(7226))
        let reason = "This path needs the setting \"doors\", which is off. Start the service with --doors revenuecat."
        #expect(kept["message"] == .string(reason))
        #expect(try await closed.customer("alice").status == 404)
        for endpoint in RevenueCatEndpoint.allCases {
            let answer = try await closed.send(endpoint.method, endpoint.path.replacing(/\{[a-z]+\}/, with: "x"))
            // An app that must keep something sends it again.
            #expect(
                answer.status == (endpoint.consequence == .ends ? 503 : endpoint.consequence == .ignores ? 400 : 404))
            #expect(answer["message"] == .string(reason), "\(endpoint)")
        }

        let limited = try await DoorGarden(requests: 1)
        #expect(try await limited.send(.post, "/v1/receipts", .object([:])).status == 503)
        let second = try await limited.send(.post, "/v1/receipts", .object([:]))
        #expect(second.status == 503)
        #expect(second.headers[.retryAfter] != nil)
    }

    @Test func `no question about a customer writes`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy("garden.gate")
        #expect(try await door.redeem(bought.proof, of: "alice", product: "garden.gate").status == 200)
        func content() throws -> Data {
            var lines = Data()
            _ = try door.ledger.export { lines.append($0) }
            return lines
        }
        let before = try content()
        for endpoint in RevenueCatEndpoint.allCases where endpoint.method == .get {
            for customer in ["alice", "nobody"] {
                let path = endpoint.path.replacing("{user}", with: customer)
                #expect(try await door.send(.get, path).status == 200, "\(endpoint)")
            }
        }
        #expect(try content() == before)
    }

    @Test func `an answer that the SDK has is not sent again`() async throws {
        let door = try await DoorGarden()
        let name = try #require(HTTPField.Name("X-RevenueCat-ETag"))
        for path in [DoorGarden.path(of: "alice", "/offerings"), "/v1/product_entitlement_mapping"] {
            let first = try await door.send(.get, path, headers: [name: ""])
            let tag = try #require(first.headers[name])
            let second = try await door.send(.get, path, headers: [name: tag])
            #expect(second.status == 304 && second.body.isEmpty && second.headers[name] == tag)
            #expect(try await door.send(.get, path, headers: [name: "other"]).status == 200)
        }
    }

    @Test func `attributes are recorded, and personal ones are not shown to strangers`() async throws {
        let door = try await DoorGarden()
        func state(_ name: String, _ value: JSONValue, at milliseconds: Int64) async throws -> DoorGarden.Answer {
            try await door.send(
                .post, DoorGarden.path(of: "alice", "/attributes"),
                .object([
                    "attributes": .object([
                        name: .object(["value": value, "updated_at_ms": .integer(milliseconds)])
                    ])
                ]))
        }
        try await state("color", "green", at: 2).expect(.object([:]))
        try await state("color", "red", at: 1).expect(.object([:]))
        try await state("$email", "a@b.example", at: 1).expect(.object([:]))
        let long = String(repeating: "n", count: 200)
        let reason =
            "\"\(long.prefix(40))\" is not an attribute's name. Use 1 to 160 bytes, without control or invisible characters."
        try await state(long, "x", at: 1).expect(
            .object([
                "attribute_errors": .array([
                    .object(["key_name": .string(long), "message": .string(reason)])
                ]),
                "code": .integer(7263), "message": "Some attributes are invalid.",
            ]), status: 400)
        try await door.customer("alice").expectCustomer(
            try Expected.customer(
                "alice", at: Expected.start,
                attributes: ["color": .object(["updated_at_ms": .integer(2), "value": "green"])]))
    }

    @Test(arguments: [
        "/v1/events", "/v1/diagnostics", "/v1/subscribers/alice/attribution",
        "/v1/subscribers/alice/adservices_attribution",
    ])
    func `reports of the SDK are accepted`(path: String) async throws {
        let door = try await DoorGarden()
        try await door.send(.post, path, .object([:])).expect(.object([:]))
    }

    @Test func `questions of the SDK are answered`() async throws {
        let door = try await DoorGarden()
        let configuration = try await door.send(.post, "/v1/config/app", .object([:]))
        #expect(configuration.status == 204 && configuration.body.isEmpty)
        try await door.send(.get, "/v1/health", key: "").expect(.object([:]))
        try await door.send(.get, "/v1/health/connectivity", key: "").expect(.object([:]))
        try await door.send(.get, DoorGarden.path(of: "alice", "/health_report_availability"), key: "").expect(
            .object(["report_logs": .bool(false)]))
        try await door.send(.post, DoorGarden.path(of: "alice", "/restore/eligibility"), .object([:])).expect(
            .object(["is_purchase_allowed_by_restore_behavior": .bool(true)]))
        let secret = try await door.keys.make(name: "back end", scopes: [.read, .redeem]).key
        #expect(try await door.send(.get, DoorGarden.path(of: "alice"), key: secret).status == 403)
    }

    @Test func `balances and introductory offers follow from the purchases`() async throws {
        let door = try await DoorGarden()
        func eligibility() async throws -> DoorGarden.Answer {
            try await door.send(
                .post, DoorGarden.path(of: "alice", "/intro_eligibility"),
                .object(["product_identifiers": .array(["garden.basic.monthly", "other"])]))
        }
        let seeds = try door.buy("garden.seeds")
        _ = try await door.redeem(seeds.proof, of: "alice", product: "garden.seeds")
        let currencies = try await door.send(.get, DoorGarden.path(of: "alice", "/virtual_currencies"))
        #expect(try JSONSchema(named: "VirtualCurrencies").violations(in: try #require(currencies.json)) == [])
        try currencies.expect(
            .object([
                "virtual_currencies": .object([
                    "seeds": .object(["balance": .integer(10), "code": "seeds", "name": "seeds"])
                ])
            ]))
        try await eligibility().expect(.object(["garden.basic.monthly": .bool(true), "other": .null]))
        let trial = try door.buy("garden.basic.monthly")
        _ = try await door.redeem(trial.proof, of: "alice", product: "garden.basic.monthly")
        try await eligibility().expect(.object(["garden.basic.monthly": .bool(false), "other": .null]))
    }
}
