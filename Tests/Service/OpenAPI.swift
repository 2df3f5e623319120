import HTTPSupport
import Service

/// The parts of an OpenAPI document that tests compare with the service.
struct OpenAPI: Decodable {
    let openapi: String
    /// The operations of each path, by method in lower case.
    let paths: [String: [String: Operation]]
    let components: Components

    /// The operations, by method in upper case and path.
    var operations: [String: Operation] {
        var operations: [String: Operation] = [:]
        for (path, methods) in paths {
            for (method, operation) in methods { operations["\(method.uppercased()) \(path)"] = operation }
        }
        return operations
    }

    /// The references to all components, except security schemes.
    var definitions: Set<String> {
        let kinds = [
            "parameters": Set(components.parameters.keys), "responses": Set(components.responses.keys),
            "schemas": Set(components.schemas.keys),
        ]
        return Set(kinds.flatMap { kind, names in names.map { "#/components/\(kind)/\($0)" } })
    }

    struct Operation: Decodable {
        /// The security schemes, each sufficient; empty if the operation needs no caller.
        let security: [[String: [String]]]?
        /// The responses by status.
        let responses: [String: Response]?
    }

    struct Components: Decodable {
        let parameters: [String: Parameter]
        let responses: [String: Response]
        let schemas: [String: Schema]
    }

    struct Parameter: Decodable {}

    struct Response: Decodable {}

    struct Schema: Decodable {
        let properties: [String: Property]?
        /// The values of an enumeration.
        let values: [String]?

        enum CodingKeys: String, CodingKey {
            case properties
            case values = "enum"
        }
    }

    struct Property: Decodable {
        let type: JSONContent?
        let format: String?
        /// The values of an enumeration.
        let values: [String]?

        enum CodingKeys: String, CodingKey {
            case type
            case format
            case values = "enum"
        }
    }
}
