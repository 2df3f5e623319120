import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Routes for the attributes of customers: read and state them.
struct AttributeRoutes: OperationGroup {
    /// The maximum size of a body, in bytes. It has room for each attribute with its longest name and value.
    private static let maximumSize = 256 * 1024

    static let tag = OperationTag(
        "Attributes", "Statements of back ends and apps about customers.",
        [
            .listAttributes, .listOwnAttributes, .stateAttributes, .stateOwnAttributes,
        ])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listAttributes, .listOwnAttributes) { request, context in
            let user = try subjects.user(request, context)
            let showsPersonal = Self.showsPersonal(to: try context.requiredCaller)
            let attributes = try await service.ledger.read { try $0.attributes(of: user) }
                .filter { showsPersonal || !$0.isPersonal }
            let shown = attributes.filter { $0.value != nil }
            let unknown = shown.isEmpty ? try await subjects.unknown(user, to: context, in: service.ledger) : nil
            return try List(shown, of: unknown).answer()
        }
        group.on(.stateAttributes, .stateOwnAttributes) { request, context in
            let user = try subjects.user(request, context)
            let body = try await JSONBody(request, context, of: .stateAttributes, upTo: Self.maximumSize)
            let (statements, newcomers) = (try statements(in: body), context.newcomers(for: request))
            let moment = service.clock.now()
            try await service.ledger.write {
                try $0.state(statements, of: user, newcomers: newcomers, at: moment)
            }
            return HTTPResponse.Status.noContent
        }
    }

    /// Addresses and the like are for the user's own app, and for keys that may export them.
    private static func showsPersonal(to caller: Caller) -> Bool {
        switch caller {
        case .backEnd(_, let scopes, _): scopes.contains(.export)
        case .app: true
        case .publicApp: false
        }
    }

    private func statements(in body: JSONBody) throws -> [Attribute] {
        let objects = try body.optionalObjects("attributes", fields: ["name", "value", "statedAt"])
        guard !objects.isEmpty, objects.count <= Attribute.maximumCount else {
            throw JSONBody.invalid(
                "The field /attributes must be an array of 1 to \(Attribute.maximumCount) objects.")
        }
        let now = clock.now()
        return try objects.map { object in
            let value: String? =
                switch try object.optionalText("value", upTo: Attribute.maximumValueLength) {
                case .absent: throw JSONBody.invalid("The field \(object.path)/value must be a string or null.")
                case .null: nil
                case .text(let text): text
                }
            return try Attribute(
                name: try object.text("name"), value: value, statedAt: try object.optionalDate("statedAt") ?? now)
        }
    }
}

/// An attribute of a customer. Answers have no removed attributes.
extension Attribute: AnswerObject, Listed {
    package static let listName = "attributes"
    package static let answerFields = AnswerFields<Self>("An attribute of a customer.", named: "Attribute") {
        $0.field(
            "name", "The name. Names that begin with a dollar sign are reserved for personal data.", \.name)
        $0.field("value", "The value.") { $0.value ?? "" }
        $0.field("statedAt", "The time of the statement.", \.statedAt)
    }
}

extension APIOperation {
    static let listAttributes = APIOperation(
        .get, "/v1/users/{user}/attributes", for: .backEnd(.read),
        "listAttributes", "Returns the attributes of a user",
        details: "Reserved attributes, whose names begin with a dollar sign, only with the scope `export`.",
        answers: [.list("The attributes of a customer, in the order of their names.", of: Attribute.self).aboutUser])

    static let listOwnAttributes = APIOperation(
        .get, "/v1/me/attributes", for: .app, "listOwnAttributes", "Returns the attributes",
        answers: [.list("The attributes of a customer, in the order of their names.", of: Attribute.self).aboutUser])

    static let stateAttributes = APIOperation(
        .put, "/v1/users/{user}/attributes", for: .backEnd(.redeem),
        "stateAttributes", "States attributes of a user",
        details:
            "The newest statement about each attribute counts, in whatever order they come. Attributes that the request omits stay.",
        body: .json(["attributes": .array(of: .attributeStatement, "The statements.", count: 1...100)]).described(
            "Statements about attributes."),
        answers: [.empty("The statements are recorded.")],
        or: [.refused])

    static let stateOwnAttributes = stateAttributes.own("stateOwnAttributes", "States attributes")
}

extension Schema {
    static let attributeStatement = Schema.object("A statement about an attribute.", named: "AttributeStatement")
        .fields([
            "name": .text("The name, of 1 to 160 bytes.", length: 1...160),
            "value": .text("The value, of at most 2000 bytes. Null removes the attribute.", upTo: 2000).nullable,
            "statedAt": .anyTime("The time of the statement. The present if it is missing or in the future.").nullable
                .optional,
        ]).closed
}
