import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// The largest body of each route of the doors.
@Suite struct BodyLimitTests {
    /// A route whose body is read.
    struct Route: Sendable, CustomTestStringConvertible {
        let path: String
        /// The members that the route needs, as JSON.
        let members: String
        /// The maximum size of a body, in bytes.
        let limit: Int

        var testDescription: String { path }

        /// A valid body of a size in bytes, with a member that no route reads.
        func body(of size: Int) throws -> JSONValue {
            let start = "{\(members),\"x\":\""
            let text = start + String(repeating: "x", count: size - start.utf8.count - 2) + "\"}"
            return try JSONParser.parse(Array(text.utf8), limits: .init(bytes: size))
        }
    }

    private static let withoutProof = 16 * 1024
    /// A proof of 8 MiB in base64, and 128 KB beside it.
    private static let withProof = ((8 << 20) + 2) / 3 * 4 + 128 * 1024

    static let routes = [
        Route(
            path: "/v1/subscribers/identify", members: #""app_user_id":"alice","new_app_user_id":"mint""#,
            limit: withoutProof),
        Route(path: "/v1/subscribers/alice/alias", members: #""new_app_user_id":"mint""#, limit: withoutProof),
        Route(path: "/v1/subscribers/alice/attributes", members: #""attributes":{}"#, limit: 512 * 1024),
        // SDKs send the app receipt beside these two, too.
        Route(
            path: "/v1/offers",
            members: #""app_user_id":"alice","generate_offers":[{"offer_id":"o","product_id":"p"}]"#,
            limit: withProof),
        Route(
            path: "/v1/subscribers/alice/intro_eligibility", members: #""product_identifiers":[]"#, limit: withProof),
        Route(path: "/v1/receipts", members: #""app_user_id":"alice","fetch_token":"AA""#, limit: withProof),
        Route(
            path: CordovaMiddleware.path,
            members: #""transaction":{"type":"apple-sk2","jwsRepresentation":"a.b.c"}"#, limit: withProof),
        Route(path: "/v1/purchase/verify", members: #""store":"apple","jws":"a.b.c""#, limit: 32 * 1024),
    ]

    @Test(arguments: routes)
    func `a body is read up to the limit of its route`(route: Route) async throws {
        let door = try await DoorGarden()
        for (size, isTooLarge) in [(route.limit, false), (route.limit + 1, true)] {
            let answer = try await door.send(.post, route.path, route.body(of: size))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("The body is too large.") == isTooLarge, "\(size) bytes: \(text)")
        }
    }
}
