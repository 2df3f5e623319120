import Hummingbird
import Proofs

/// A request body of a sandbox route. Fields that the schema lacks are rejected.
package protocol SandboxRequest: Decodable, Sendable {
    static var schema: Schema { get }
}

/// The bodies of requests to the sandbox of a local store.
package enum SandboxBody {
    private static let maximumSize = 64 * 1024

    /// Collects a body. An empty one is an object without fields.
    private static func collect(_ request: Request, _ context: ServiceContext) async throws -> [UInt8] {
        let bytes = try await RequestBytes.collect(request, context, upTo: maximumSize)
        return bytes.isEmpty ? Array("{}".utf8) : bytes
    }

    /// - Throws: `Problem`, `bodyInvalid`, for an invalid body. An empty body is an object without fields.
    package static func decode<Body: SandboxRequest>(
        _ request: Request,
        _ context: ServiceContext,
        as type: Body.Type
    ) async throws -> Body {
        let bytes = try await collect(request, context)
        do {
            if case .object(let object) = try JSONParser.parse(bytes) {
                _ = try JSONBody(object: object, known: Body.schema.fieldNames)
            }
            return try CheckedJSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw JSONBody.invalid(sentence(error))
        } catch let error as JSONSyntaxError {
            throw JSONBody.invalid("The body is not JSON: \(error.message).")
        } catch is CheckedJSON.Refusal {
            throw JSONBody.invalid("A field of the body is too long.")
        }
    }

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

extension Schema {
    package static let account = text("The account at the store.", length: 1...LocalAccount.maximumLength)
}

/// A request to advance the store's clock, or an account's.
package struct TimeAdvanceRequest: SandboxRequest {
    package static let schema = Schema.object("A step of the clock.", named: "TimeAdvanceRequest").fields([
        "by": .text("The step: \(TimeStep.form).").example("1mo"),
        "account": Schema.account.described("The account whose time advances, and no other's; the store's without it.")
            .optional,
    ]).closed

    private let by: String
    package let account: String?

    /// - Throws: `Problem`, `bodyInvalid`, for a text that is no step.
    package func step() throws(Problem) -> TimeStep {
        guard let step = TimeStep(by) else { throw JSONBody.invalid("The field /by has to be \(TimeStep.form).") }
        return step
    }
}

/// A request to inject faults into the next notifications.
package struct NotificationFaultsRequest: SandboxRequest {
    package static let schema = Schema.object("Faults of the next notifications.", named: "NotificationFaultsRequest")
        .fields([
            "faults": .array(
                of: .text().with(["pattern": "^(duplicate|reorder|drop|delay:[0-9]+)$"]),
                "One for each notification.")
        ]).closed

    private let faults: [String]

    /// - Throws: `Problem`, `bodyInvalid`, for an unknown name.
    package func notificationFaults() throws(Problem) -> [NotificationFault] {
        var known: [NotificationFault] = []
        for name in faults {
            guard let fault = NotificationFault(name: name) else {
                throw JSONBody.invalid("Each of the field /faults has to be duplicate, reorder, drop or delay:SECONDS.")
            }
            known.append(fault)
        }
        return known
    }
}
