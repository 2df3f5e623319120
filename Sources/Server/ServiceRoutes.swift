import Commerce
import Entitlements
import Foundation
import HTTPTypes
import Hummingbird
import Receipts
import StrictJSON

/// The service's routes: a user's proofs go in, the user's items come out.
public struct ServiceRoutes: Sendable {
    /// The largest body read: a proof in base64, and its JSON around it.
    static let maximumBody = ProofVerifier.maximumTextSize + 1024

    private let service: EntitlementService
    private let key: APIKey

    /// - Parameter key: What callers have to present.
    public init(service: EntitlementService, key: APIKey) {
        self.service = service
        self.key = key
    }

    public func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: ProblemMiddleware())
        router.get("health/live") { _, _ in HTTPResponse.Status.noContent }
        let users = router.group("v1/users/:user").add(middleware: APIKeyMiddleware(key: key))
        users.post("receipts") { request, context in
            try await redeem(field: "receipt", request: request, context: context)
        }
        users.post("transactions") { request, context in
            try await redeem(field: "signedTransaction", request: request, context: context)
        }
        users.get("items") { _, context in
            struct Answer: Encodable {
                let items: [Item]
            }
            return try Self.json(Answer(items: try service.items(of: Self.user(context))))
        }
        return router
    }

    private func redeem(field: String, request: Request, context: BasicRequestContext) async throws -> Response {
        let user = try Self.user(context)
        var request = request
        let body = try await request.collectBody(upTo: Self.maximumBody)
        return try Self.json(
            try service.redeem(try Self.proof(in: Array(body.readableBytesView), field: field), for: user))
    }

    private static func proof(in body: [UInt8], field: String) throws -> [UInt8] {
        let value: JSONValue
        do {
            value = try JSONParser.parse(body, limits: .init(bytes: maximumBody))
        } catch {
            throw Problem(status: .badRequest, code: "bodyInvalid", detail: "The body is not JSON: \(error.message).")
        }
        guard case .object(let object) = value, case .string(let proof) = object[field] else {
            throw Problem(
                status: .badRequest, code: "bodyInvalid",
                detail: "The body has to be a JSON object with the proof as text in the field \(field).")
        }
        return Array(proof.utf8)
    }

    private static func user(_ context: BasicRequestContext) throws -> User {
        let name = try context.parameters.require("user")
        guard let user = name.removingPercentEncoding.flatMap(User.init(name:)) else {
            throw Problem(
                status: .badRequest, code: "userInvalid",
                detail: "A user's name has 1 to \(User.maximumLength) bytes, without spaces or control characters.")
        }
        return user
    }

    private static func json(_ answer: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(answer))))
    }
}
