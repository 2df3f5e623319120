/// An operation of the service's API, from its OpenAPI document.
struct APIOperation: Sendable {
    /// A parameter of the path, the query or a header.
    struct Parameter: Sendable {
        let name: String
        /// "path", "query" or "header".
        let location: String
        let isRequired: Bool
        let description: String
        /// The type and the limits of the value: "integer, 1 to 100".
        let type: String
        /// The values of a parameter with few values.
        let values: [String]
        /// An example value; empty for none.
        let example: String
    }

    struct Answer: Sendable {
        let status: String
        let description: String
        /// The media types of the content.
        let types: [String]
    }

    struct Body: Sendable {
        let type: String
        /// An example with the required fields; nil for a body that is no JSON.
        let example: String?
        /// The schema, as JSON; nil for a body without one.
        let schema: String?
    }

    enum Credential: Sendable {
        case apiKey
        case userToken
    }

    /// The name of the operation, which is unique.
    let identifier: String
    /// The method in capitals.
    let method: String
    /// The path, with its parameters in braces.
    let path: String
    let summary: String
    let description: String?
    let parameters: [Parameter]
    /// The accepted credentials; empty for an operation without any.
    let credentials: [Credential]
    let body: Body?
    let answers: [Answer]

    /// The first part of the path after the version: the group of the operation in the list.
    var topic: String {
        let parts = path.split(separator: "/").drop { $0 == "v1" }
        return String(parts.first ?? "")
    }

    /// True if a browser can show the answer: a GET with an answer of limited text.
    var canBeTried: Bool {
        let shown = ["application/json", "text/markdown", "text/plain"]
        return method == "GET"
            && answers.filter { $0.status.hasPrefix("2") }.allSatisfy { $0.types.allSatisfy(shown.contains) }
    }
}
