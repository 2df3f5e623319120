import StrictJSON

/// The operations of an OpenAPI document. Members that it does not have are left out.
struct APIDescription: Sendable {
    private static let methods = ["get", "post", "put", "patch", "delete"]

    /// The operations in the order of the document.
    let operations: [APIOperation]

    /// - Throws: `JSONSyntaxError`.
    init(_ bytes: [UInt8]) throws {
        let document = try JSONParser.parse(bytes)
        let schemas = APISchemas(document)
        var operations: [APIOperation] = []
        for path in document["paths"]?.members ?? [] {
            for method in Self.methods {
                guard let operation = path.value[method] else { continue }
                operations.append(Self.operation(operation, method, path.key, schemas))
            }
        }
        self.operations = operations
    }

    private static func operation(
        _ value: JSONValue, _ method: String, _ path: String, _ schemas: APISchemas
    ) -> APIOperation {
        let parameters = (value["parameters"]?.elements ?? []).map { parameter in
            let parameter = schemas.resolved(parameter)
            let schema = schemas.resolved(parameter["schema"] ?? .null)
            return APIOperation.Parameter(
                name: parameter["name"]?.text ?? "", location: parameter["in"]?.text ?? "",
                isRequired: parameter["required"] == .bool(true), description: parameter["description"]?.text ?? "",
                type: schemas.summary(of: schema), values: (schema["enum"]?.elements ?? []).compactMap(\.text),
                example: (parameter["example"] ?? schema["example"])?.shown ?? "")
        }
        let answers = (value["responses"]?.members ?? []).map { status, answer in
            let answer = schemas.resolved(answer)
            return APIOperation.Answer(
                status: status, description: answer["description"]?.text ?? "",
                types: answer["content"]?.members.map(\.key) ?? [])
        }
        let credentials = (value["security"]?.elements ?? []).flatMap(\.members).compactMap { scheme in
            switch scheme.key {
            case "apiKey": APIOperation.Credential.apiKey
            case "userToken": .userToken
            default: nil
            }
        }
        return APIOperation(
            identifier: value["operationId"]?.text ?? "", method: method.uppercased(), path: path,
            summary: value["summary"]?.text ?? "", description: value["description"]?.text, parameters: parameters,
            credentials: credentials, body: body(value["requestBody"], schemas), answers: answers)
    }

    private static func body(_ value: JSONValue?, _ schemas: APISchemas) -> APIOperation.Body? {
        guard let content = value.map(schemas.resolved)?["content"]?.members.first else { return nil }
        let schema = content.value["schema"]
        let isJSON = content.key == "application/json"
        return APIOperation.Body(
            type: content.key,
            example: isJSON ? (content.value["example"] ?? schema.map { schemas.example(of: $0) })?.compactText : nil,
            schema: schema.map { schemas.expanded($0).prettyText })
    }
}

extension JSONValue {
    fileprivate var shown: String? {
        switch self {
        case .string(let text): text
        case .number, .bool: compactText
        case .object, .array, .null: nil
        }
    }
}
