import HTTPSupport
import Hummingbird

/// The route by which the program that holds an API key reads what the key may do, as `till mcp` does before it offers an action.
struct KeyRoutes: OperationGroup {
    static let tag = OperationTag("API keys", "The API key of the caller.", [.readKey])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.readKey) { _, context in
            guard case .backEnd(let identifier, let scopes, let app) = try context.requiredCaller else {
                throw Problem.unexpected
            }
            let key = CallerKey(
                identifier: identifier, scopes: APIKeyScope.allCases.filter(scopes.contains), app: app)
            return try key.answer(naming: try await service.ledger.apiKeyNames())
        }
    }
}

/// The answer of `GET /v1/key`.
private struct CallerKey: AnswerObject {
    static let answerFields = AnswerFields<Self>("The API key of the caller.", named: "CallerKey") {
        $0.field("keyId", "The identifier of the key, as the audit log names it.", \.identifier)
        $0.keyName("name", note: "The name of the key; absent for the key of a process.") { $0.identifier }
        $0.field("scopes", "The permissions of the key.", \.scopes)
        $0.field("app", "The bundle identifier of the only app that the key is for; absent for all apps.", \.app)
    }

    let identifier: String
    let scopes: [APIKeyScope]
    let app: String?
}

extension APIKeyScope: AnswerValue {}

extension APIOperation {
    static let readKey = APIOperation(
        .get, "/v1/key", for: .backEnd(.read), isPerApp: true,
        "readKey", "Returns the name, the scopes and the app of the caller's API key",
        answers: [.json("The key, without its secret.", CallerKey.self)])
}
