import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// The door of RevenueCat's SDKs with the requests of purchases-android.
@Suite struct RevenueCatAndroidTests {
    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"

    /// The header fields that tell the SDK from those of other platforms.
    static var headers: HTTPFields {
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name.revenueCatPlatform { headers[name] = "android" }
        if let name = HTTPField.Name("X-Client-Bundle-ID") { headers[name] = TestGarden.bundleIdentifier }
        return headers
    }

    /// The body that the SDK makes of a purchase.
    static func receipt(_ token: String, of user: String, products: String..., isRestore: Bool = false) -> JSONValue {
        .object([
            "fetch_token": .string(token), "product_ids": .array(products.map { .string($0) }),
            "platform_product_ids": .array(products.map { .object(["product_id": .string($0)]) }),
            "app_user_id": .string(user), "is_restore": .bool(isRestore), "observer_mode": .bool(false),
            "purchase_completed_by": "revenuecat", "price": .number(JSONNumber(thousandths: 4990)), "currency": "EUR",
            "initiation_source": .string(isRestore ? "restore" : "purchase"), "sdk_originated": .bool(true),
            "payload_version": .integer(1),
        ])
    }

    @Test func `the head of a request keeps the platform`() throws {
        let name = try #require(HTTPField.Name.revenueCatPlatform)
        let head = HTTPRequest(
            method: .post, scheme: "https", authority: "till.example.com", path: "/v1/receipts",
            headerFields: Self.headers)
        #expect(try RequestHead.checked(head).get().headerFields[name] == "android")
    }

    @Test func `without a service account, a token is neither granted nor refused for good`() async throws {
        let door = try await DoorGarden([.revenueCat])
        let answer = try await door.send(
            .post, "/v1/receipts", Self.receipt(Self.token, of: "alice", products: "garden.gate"),
            headers: Self.headers)
        #expect(answer.status == 503 && answer["code"] == .integer(7107))
        #expect(try JSONSchema(named: "Error").violations(in: try #require(answer.json)) == [])
        // Other platforms have no purchase tokens.
        let apple = try await door.send(
            .post, "/v1/receipts", Self.receipt(Self.token, of: "alice", products: "garden.gate"))
        #expect(apple.status == 400 && apple["code"] == .integer(7103))
    }

    @Test func `a text that is no token is refused for good, and a longer one is sent again`() async throws {
        let door = try await DoorGarden([.revenueCat])
        for (token, status) in [("a b", 400), (String(repeating: "a", count: 600), 503)] {
            let answer = try await door.send(
                .post, "/v1/receipts", Self.receipt(token, of: "alice", products: "garden.gate"), headers: Self.headers)
            #expect(answer.status == status)
        }
    }
}
