import Foundation
import HTTPSupport
import HTTPTypes
import Service

/// What operations allow beyond a request of a back end, about what belongs to an app: each permission that a route could give by mistake
/// is written down here once more, and the tests compare the service with it.
enum OperationPermission: Sendable {
    /// Anybody may send it, without a key or a token.
    case open
    /// A key for one app may not: it is about what belongs to no app.
    case closedToAppKeys
    /// An app or a stranger may send it, unless only the reserve of free space is left.
    case refusedWhenFull
    /// An app or a stranger may send it, also then: it brings a proof, ends or renews what is there, or writes nothing.
    case admittedWhenFull

    static let all: [String: Set<OperationPermission>] = [
        "DELETE /v1/me/wishes/{product}": [.refusedWhenFull],
        "GET /errors": [.open],
        "GET /health/live": [.open],
        "GET /health/ready": [.open],
        "GET /metrics": [.closedToAppKeys],
        "GET /openapi.json": [.open],
        "GET /v1/pictures": [.open],
        "GET /v1/pictures/{collection}/{number}": [.open],
        "GET /v1/users": [.closedToAppKeys],
        "GET /v1/users/{user}/attributes": [.closedToAppKeys],
        "GET /v1/users/{user}/export": [.closedToAppKeys],
        "GET /v1/users/{user}/profile": [.closedToAppKeys],
        "GET /v1/users/{user}/wishes": [.closedToAppKeys],
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
        "POST /v1/users/{user}/erasure": [.closedToAppKeys],
        "PUT /v1/me/account-token": [.refusedWhenFull],
        "PUT /v1/me/account/email": [.refusedWhenFull],
        "PUT /v1/me/account/password": [.refusedWhenFull],
        "PUT /v1/me/attributes": [.refusedWhenFull],
        "PUT /v1/me/wishes/{product}": [.refusedWhenFull],
        "PUT /v1/users/{user}": [.closedToAppKeys],
        "PUT /v1/users/{user}/attributes": [.closedToAppKeys],
    ]

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

    struct Body {
        let contentType: String
        let bytes: Data
    }

    /// The operations that accept a kind of credential, in the order of their names.
    static func all(for scheme: String = "apiKey") throws -> [AppOperation] {
        let document = try JSONDecoder().decode(Document.self, from: Data(try OpenAPIDocument.composed.get().bytes))
        var operations: [AppOperation] = []
        for (path, methods) in document.paths {
            for (word, operation) in methods where operation.security?.contains(where: { $0[scheme] != nil }) == true {
                guard let method = HTTPRequest.Method(rawValue: word.uppercased()) else { continue }
                let content = operation.requestBody?.content.first
                var schema = content?.value.schema
                if let name = schema?.reference?.split(separator: "/").last {
                    schema = document.components.schemas[String(name)]
                }
                operations.append(
                    AppOperation(
                        name: "\(method.rawValue) \(path)", method: method, template: path, type: content?.key,
                        fields: Set(schema?.properties.map { Array($0.keys) } ?? [])))
            }
        }
        return operations.sorted { $0.name < $1.name }
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
        let members = fields.sorted().compactMap { field in known[field].map { "\"\(field)\":\($0)" } }
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
    }

    private struct Operation: Decodable {
        let security: [[String: [String]]]?
        let requestBody: RequestBody?
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

        enum CodingKeys: String, CodingKey {
            case reference = "$ref"
            case properties
        }
    }

    private struct Property: Decodable {}
}
