import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
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
        "POST /v1/retention/apple": [.open, .admittedWhenFull],
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
    /// The names of the fields that a back end's request needs.
    private let needed: Set<String>
    /// The document's example of the body, which has the fields whose meaning is not known here.
    private let example: [String: JSONContent]
    /// The query of a request that is answered with what the tests buy: a value for each parameter that needs one, or narrows the answer to
    /// something else without one. Empty without such a parameter.
    let query: String
    /// True if the query may name an app, which a caller of several apps must do for some operations.
    let takesApp: Bool

    /// The operations that may refuse each request of the tests, with the reason.
    private static let refusing: [String: String] = [
        "POST /v1/apple/external-purchases/{externalPurchase}/reports": "no app has a token of the App Store",
        "POST /v1/transactions/{transaction}/advanced-commerce/{operation}": "no back end has described a purchase",
        "PUT /v1/store-actions/{action}": "the own purchase is no subscription, and the other one was asked for",
        "PUT /v1/store-actions/{action}/decision": "no second person is asked for",
    ]

    /// The values of parameters by their names. The stores of tests are sandboxes.
    private static let needed = ["environment": "sandbox", "search": "alice"]
    private static let optional = ["environment": "sandbox", "group": "product"]

    struct Body {
        let contentType: String
        let bytes: Data
    }

    /// The operations that accept a kind of credential, in an order in which each finds what it changes: those that read, changes,
    /// moves to another user, deletions, and erasures.
    static func all(for scheme: String = "apiKey") throws -> [AppOperation] {
        let document = try document()
        var operations: [AppOperation] = []
        for (path, methods) in document.paths {
            for (word, operation) in methods where operation.security?.contains(where: { $0[scheme] != nil }) == true {
                guard let method = HTTPRequest.Method(rawValue: word.uppercased()) else { continue }
                let content = operation.requestBody?.content.first
                let schema = content.flatMap { document.components.resolved($0.value.schema) }
                let isOfBackEnd = operation.security?.contains { $0["apiKey"] != nil } == true
                operations.append(
                    AppOperation(
                        name: "\(method.rawValue) \(path)", method: method, template: path, type: content?.key,
                        fields: Set(schema?.properties.map { Array($0.keys) } ?? []),
                        needed: Set(isOfBackEnd ? schema?.required ?? [] : []),
                        example: isOfBackEnd ? content?.value.example ?? [:] : [:],
                        query: document.components.query(operation.parameters ?? []),
                        takesApp: document.components.queried(operation.parameters ?? []).contains { $0.name == "app" })
                )
            }
        }
        return operations.sorted { ($0.turn, $0.name) < ($1.turn, $1.name) }
    }

    private var turn: Int {
        switch name {
        case _ where method == .get: 0
        // The current offering is one that is known.
        case "PUT /v1/catalog/offerings/{name}": 1
        case "PUT /v1/users/{user}/transactions/{transaction}/owner": 3
        case "PUT /v1/transactions/{transaction}/owner": 4
        case _ where name.hasSuffix("/undo"): 5
        case _ where method == .delete: 6
        case _ where name.hasSuffix("/erasure"): 7
        default: 2
        }
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
        let special = ["unclaimed", "external-transactions"].first { template.contains("/\($0)/{transaction}/") }
        return template.replacing(/\{([a-zA-Z]+)\}/) { match in
            let value = values[special ?? String(match.1)] ?? values["transaction"] ?? "x"
            return value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? value
        }
    }

    /// True if each request was refused: for its form, or a change for any reason. Then nothing of the operation was tested.
    func isUntested(answering statuses: Set<Int>) -> Bool {
        let isRefused = method == .get ? statuses == [400] : !statuses.contains { (200..<300).contains($0) }
        return isRefused && Self.refusing[name] == nil
    }

    /// The failure of a test for an operation of which nothing was tested.
    var untested: String {
        "\(name) refuses each request: AppOperation has the values and the order, and `refusing` the reason if none is right."
    }

    /// Bodies with the fields whose names are known or that a request needs, and with those of the document's example; one nil for a
    /// request without a body. A time is an hour before and an hour after now: some operations take only the past, some only the
    /// future.
    ///
    /// - Throws: `UnfilledField`.
    func bodies(_ values: [String: String], proof: String, at now: Timestamp) throws -> [Body?] {
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
            "packageName": "\"\(values["package"] ?? "")\"",
            "oneTimeTransaction": #"{"externalTransactionToken":"AUJTfg"}"#,
            "kind": "\"extend\"", "transaction": "\"\(values["transaction"] ?? "")\"", "days": "3",
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
        var texts: [String] = []
        for time in [-3600, 3600].map({ now.adding(seconds: $0) }) {
            for chosen in [needed.union(known.keys), needed.union(example.keys)] {
                let members = try fields.intersection(chosen).sorted().map { field in
                    "\"\(field)\":\(try known[field] ?? sample(of: field, at: time))"
                }
                texts.append(members.joined(separator: ","))
            }
        }
        // Most bodies have no time, and the document's example no further field.
        return texts.indices.filter { !texts[..<$0].contains(texts[$0]) && (!texts[$0].isEmpty || $0 == 0) }.map {
            Self.json(texts[$0])
        }
    }

    /// A field that a request needs, for which neither the tests nor the document's example have a value.
    struct UnfilledField: Error {
        let operation: String
        let field: String
    }

    /// The JSON of a field in the document's example, with a time in place of its times.
    private func sample(of field: String, at time: Timestamp) throws -> String {
        guard let value = example[field] else { throw UnfilledField(operation: name, field: field) }
        return String(decoding: try JSONEncoder().encode(value.replacingTimes(with: time)), as: UTF8.self)
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

        /// The parameters of the query among those of an operation.
        func queried(_ described: [Parameter]) -> [Parameter] {
            described.map { described in
                let reference = described.reference?.split(separator: "/").last
                return reference.flatMap { parameters[String($0)] } ?? described
            }.filter { $0.place == "query" }
        }

        /// The query with the parameters whose values are known.
        func query(_ described: [Parameter]) -> String {
            let members = queried(described).compactMap { parameter -> String? in
                guard let name = parameter.name else { return nil }
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
        /// Nil for an example that is no object.
        let example: [String: JSONContent]?

        enum CodingKeys: String, CodingKey {
            case schema, example
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            schema = try container.decode(Schema.self, forKey: .schema)
            example = try? container.decodeIfPresent([String: JSONContent].self, forKey: .example)
        }
    }

    private struct Schema: Decodable {
        let reference: String?
        let properties: [String: JSONContent]?
        let required: [String]?

        enum CodingKeys: String, CodingKey {
            case reference = "$ref"
            case properties, required
        }
    }
}

extension JSONContent {
    /// The same content with a time in place of each time in RFC 3339.
    fileprivate func replacingTimes(with time: Timestamp) -> JSONContent {
        switch self {
        case .object(let members): .object(members.mapValues { $0.replacingTimes(with: time) })
        case .array(let elements): .array(elements.map { $0.replacingTimes(with: time) })
        case .string(let text) where Timestamp(rfc3339: text) != nil: .string(time.rfc3339)
        default: self
        }
    }
}
