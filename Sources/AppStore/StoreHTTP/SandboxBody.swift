import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// Decodes the request bodies of the sandbox's routes.
enum SandboxBody {
    private static let maximumSize = 64 * 1024

    /// - Throws: `Problem`, `bodyInvalid`, for an invalid body. An empty body is an object without fields.
    static func decode<Body: SandboxRequest>(
        _ request: Request,
        _ context: ServiceContext,
        as type: Body.Type
    ) async throws -> Body {
        let collected = try await RequestBytes.collect(request, context, upTo: maximumSize)
        let bytes = collected.isEmpty ? Array("{}".utf8) : collected
        do {
            if case .object(let object) = try JSONParser.parse(bytes) {
                _ = try JSONFields(object: object, path: "", known: Body.fields)
            }
            return try CheckedJSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw invalid(sentence(error))
        } catch let error as JSONSyntaxError {
            throw invalid("The body is not JSON: \(error.message).")
        } catch is CheckedJSON.Refusal {
            throw invalid("A field of the body is too long.")
        }
    }

    static func invalid(_ detail: String) -> Problem { JSONBody.invalid(detail) }

    private static func sentence(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "The field \(path(context.codingPath + [key])) is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "The field \(path(context.codingPath)) has another type than it has to."
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            "The field \(path(context.codingPath)) has a value that it cannot have."
        default: "The body has to be a JSON object."
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { "/" + ($0.intValue.map { String($0) } ?? $0.stringValue) }.joined()
    }
}
