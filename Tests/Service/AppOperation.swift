import Foundation
import HTTPSupport
import HTTPTypes
import Service
import TestSupport

/// What operations allow beyond a request of a back end, about what belongs to an app: each permission that a route could give by mistake
/// is written down here once more, and the tests compare the service with it.
enum OperationPermission: Sendable {
    /// Anybody may send it, without a key or a token.
    case open
    /// An app or a stranger may send it, unless only the reserve of free space is left.
    case refusedWhenFull
    /// An app or a stranger may send it, also then: it brings a proof, ends or renews what is there, or writes nothing.
    case admittedWhenFull

    static let all: [String: Set<OperationPermission>] = [
        "DELETE /v1/me/wishes/{product}": [.refusedWhenFull],
        "GET /errors": [.open],
        "GET /health/live": [.open],
        "GET /health/ready": [.open],
        "GET /openapi.json": [.open],
        "GET /v1/pictures": [.open],
        "GET /v1/pictures/{collection}/{number}": [.open],
        "PATCH /v1/me/profile": [.refusedWhenFull],
        "POST /v1/accounts": [.open, .refusedWhenFull],
        "POST /v1/accounts/availability": [.open, .admittedWhenFull],
        "POST /v1/accounts/confirmation": [.open, .refusedWhenFull],
        "POST /v1/accounts/password": [.open, .refusedWhenFull],
        "POST /v1/accounts/recovery": [.open, .refusedWhenFull],
        "POST /v1/accounts/release": [.open, .refusedWhenFull],
        "POST /v1/me/account/verification": [.refusedWhenFull],
        "POST /v1/me/erasure": [.admittedWhenFull],
        "POST /v1/me/receipts": [.admittedWhenFull],
        "POST /v1/me/transactions": [.admittedWhenFull],
        "POST /v1/nicknames/check": [.open, .admittedWhenFull],
        "POST /v1/notifications/apple": [.open, .admittedWhenFull],
        "POST /v1/sessions": [.open, .refusedWhenFull],
        "POST /v1/sessions/end": [.open, .admittedWhenFull],
        "POST /v1/sessions/renewal": [.open, .admittedWhenFull],
        "POST /v1/user": [.refusedWhenFull],
        "POST /v1/user/shop/ios": [.admittedWhenFull],
        "POST /v1/user/shop/item": [.refusedWhenFull],
        "POST /v1/user/withdraw": [.admittedWhenFull],
        "PUT /v1/me/account-token": [.refusedWhenFull],
        "PUT /v1/me/account/email": [.refusedWhenFull],
        "PUT /v1/me/account/password": [.refusedWhenFull],
        "PUT /v1/me/attributes": [.refusedWhenFull],
        "PUT /v1/me/wishes/{product}": [.refusedWhenFull],
    ]

    /// The operations that a key for one app may not send, because they are about what belongs to no app: those that the tables of the
    /// documentation mark with "all apps" beside their scope.
    static func closedToAppKeys() throws -> Set<String> {
        var operations: Set<String> = []
        for line in try Project.text("Documentation/API.md").split(separator: "\n") {
            guard let row = line.wholeMatch(of: /\| (`[A-Z]+ \/[^|]+) \| `\w+`, all apps \| .*/) else { continue }
            let method = row.1.dropFirst().prefix { $0 != " " }
            for path in row.1.matches(of: /\/[^`]+(?=`)/) { operations.insert("\(method) \(path.0)") }
        }
        return operations
    }

    /// The operations with a permission.
    static func operations(_ permission: OperationPermission) -> Set<String> {
        Set(all.filter { $0.value.contains(permission) }.keys)
    }
}

/// An operation for back ends, as the OpenAPI document describes it.
struct AppOperation {
    /// The method and path, such as `GET /v1/products/{product}`.
    let name: String
    let method: HTTPRequest.Method
    private let template: String
    /// The media type of the body; nil for a request without one.
    private let type: String?
    /// The names of the body's fields.
    private let fields: Set<String>
    /// The JSON of the fields that a back end's request needs, for those whose meaning is not known here.
    private let samples: [String: String]
    /// The query of a request that is answered with what the tests buy: a value for each parameter that needs one, or narrows the answer to
    /// something else without one. Empty without such a parameter.
    let query: String

    /// The values of parameters by their names. The stores of tests are sandboxes.
    private static let needed = ["environment": "sandbox", "search": "alice"]
    private static let optional = ["environment": "sandbox", "group": "product"]

    struct Body {
        let contentType: String
        let bytes: Data
    }

    /// The operations that accept a kind of credential, in the order of their names.
    static func all(for scheme: String = "apiKey") throws -> [AppOperation] {
        let document = try document()
        var operations: [AppOperation] = []
        for (path, methods) in document.paths {
            for (word, operation) in methods where operation.security?.contains(where: { $0[scheme] != nil }) == true {
                guard let method = HTTPRequest.Method(rawValue: word.uppercased()) else { continue }
                let content = operation.requestBody?.content.first
                let schema = content.flatMap { document.components.resolved($0.value.schema) }
                let isOfBackEnd = operation.security?.contains { $0["apiKey"] != nil } == true
                let needed = isOfBackEnd ? schema?.required ?? [] : []
                operations.append(
                    AppOperation(
                        name: "\(method.rawValue) \(path)", method: method, template: path, type: content?.key,
                        fields: Set(schema?.properties.map { Array($0.keys) } ?? []),
                        samples: Dictionary(
                            uniqueKeysWithValues: needed.compactMap { name in
                                schema?.properties?[name]?.sample.map { (name, $0) }
                            }),
                        query: document.components.query(operation.parameters ?? [])))
            }
        }
        return operations.sorted { $0.name < $1.name }
    }

    /// The paths below `/v1/users/USER/` whose answers say that they are about an unknown user, with the first item of the seed's app.
    static func listsAboutUsers() throws -> [String] {
        let (document, prefix) = (try document(), "/v1/users/{user}/")
        return document.paths.filter { path, methods in
            guard path.hasPrefix(prefix), let answer = methods["get"]?.responses?["200"]?.content?["application/json"]
            else { return false }
            return document.components.resolved(answer.schema)?.properties?["isUserUnknown"] != nil
        }.keys.sorted().map {
            String($0.dropFirst(prefix.count)).replacing("{collection}", with: "sprout").replacing(
                "{number}", with: "1")
        }
    }

    private static func document() throws -> Document {
        try JSONDecoder().decode(Document.self, from: Data(try OpenAPIDocument.composed.get().json.compactBytes))
    }

    /// The path with the values of its parameters. An unknown parameter gets the identifier of a transaction.
    func path(_ values: [String: String]) -> String {
        template.replacing(/\{([a-zA-Z]+)\}/) { match in
            let value = values[String(match.1)] ?? values["transaction"] ?? "x"
            return value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? value
        }
    }

    /// Bodies with the fields whose names are known; one nil for a request without a body.
    func bodies(_ values: [String: String], proof: String) -> [Body?] {
        guard let type else { return [nil] }
        guard type == "application/json" else { return [Self.picture] }
        let item = #"{"collection":"\#(values["collection"] ?? "")","number":\#(values["number"] ?? "0")}"#
        let product = values["product"] ?? ""
        let known = [
            "receipt": "\"\(proof)\"", "signedTransaction": "\"\(proof)\"", "proof": "\"\(proof)\"", "item": item,
            "items": "[\(item)]", "products": "[\"\(product)\"]", "reason": "\"a test\"", "user": "\"mallory\"",
            "appAccountToken": "\"\(UUID().uuidString)\"", "url": "\"https://new.example/hooks\"",
            "authorization": "\"Bearer new\"", "attributes": #"[{"name":"level","value":"9"}]"#, "amount": "1",
            "identifier": "\"\(values["name"] ?? "")\"", "description": "\"All\"", "previousSecretSeconds": "0",
            "packages": #"[{"identifier":"one","productID":"\#(product)"}]"#,
        ]
        if fields.contains("displayPrice") {
            return [
                Self.json(
                    #""type":"NonConsumable","displayPrice":"1","collection":"\#(values["collection"] ?? "")","number":\#(values["number"] ?? "0")"#
                ),
                Self.json(
                    #""type":"Consumable","displayPrice":"1","balance":"\#(values["balance"] ?? "")","amount":1"#),
            ]
        }
        let members = fields.sorted().compactMap { field in
            (known[field] ?? samples[field]).map { "\"\(field)\":\($0)" }
        }
        return [Self.json(members.joined(separator: ","))]
    }

    private static func json(_ members: String) -> Body {
        Body(contentType: "application/json", bytes: Data("{\(members)}".utf8))
    }

    private static let picture = Body(
        contentType: "multipart/form-data; boundary=b",
        bytes: Data(
            ("--b\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a.svg\"\r\n"
                + "Content-Type: image/svg+xml\r\n\r\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>\r\n--b--\r\n").utf8))

    private struct Document: Decodable {
        let paths: [String: [String: Operation]]
        let components: Components
    }

    private struct Components: Decodable {
        let schemas: [String: Schema]
        let parameters: [String: Parameter]

        /// The query with the parameters whose values are known.
        func query(_ described: [Parameter]) -> String {
            let members = described.compactMap { described -> String? in
                let reference = described.reference?.split(separator: "/").last
                let parameter = reference.flatMap { parameters[String($0)] } ?? described
                guard parameter.place == "query", let name = parameter.name else { return nil }
                let values = parameter.isRequired == true ? AppOperation.needed : AppOperation.optional
                return values[name].map { "\(name)=\($0)" }
            }
            return members.isEmpty ? "" : "?" + members.sorted().joined(separator: "&")
        }

        /// The schema to which another one refers, or the schema itself.
        func resolved(_ schema: Schema) -> Schema? {
            schema.reference?.split(separator: "/").last.map { schemas[String($0)] } ?? schema
        }
    }

    private struct Operation: Decodable {
        let security: [[String: [String]]]?
        let parameters: [Parameter]?
        let requestBody: RequestBody?
        let responses: [String: Response]?
    }

    private struct Parameter: Decodable {
        let reference: String?
        let name: String?
        let place: String?
        let isRequired: Bool?

        enum CodingKeys: String, CodingKey {
            case reference = "$ref"
            case name
            case place = "in"
            case isRequired = "required"
        }
    }

    private struct Response: Decodable {
        let content: [String: Media]?
    }

    private struct RequestBody: Decodable {
        let content: [String: Media]
    }

    private struct Media: Decodable {
        let schema: Schema
    }

    private struct Schema: Decodable {
        let reference: String?
        let properties: [String: Property]?
        let required: [String]?

        enum CodingKeys: String, CodingKey {
            case reference = "$ref"
            case properties, required
        }
    }

    private struct Property: Decodable {
        let type: Types?
        let format: String?
        let values: [String]?

        enum CodingKeys: String, CodingKey {
            case type, format
            case values = "enum"
        }

        /// One type; nil for a field with several, which needs no value.
        struct Types: Decodable {
            let only: String?

            init(from decoder: any Decoder) throws {
                only = try? decoder.singleValueContainer().decode(String.self)
            }
        }

        /// A value of the field; nil for a type that needs a known meaning.
        var sample: String? {
            switch type?.only {
            case "string" where format == nil: "\"\(values?.first ?? "a test")\""
            case "integer": "1"
            case "boolean": "true"
            default: nil
            }
        }
    }
}
