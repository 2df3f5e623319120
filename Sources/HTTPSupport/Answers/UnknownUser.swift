import Ledger
import Vocabulary

/// The statement, beside an empty answer about a user, that the ledger does not know the user. Only back ends get it.
package struct UnknownUser: AnswerObject, Codable, Hashable, Sendable {
    package static let answerFields = AnswerFields<Self>("An unknown user.") {
        $0.field("isUserUnknown", isUserUnknown, \.isUserUnknown)
        $0.field("knownUnderIssuers", knownUnderIssuers) { $0.knownUnderIssuers.nonEmpty }
    }

    private static let isUserUnknown: Schema =
        "True if the service does not know the user; absent otherwise, and in answers to apps."
    private static let knownUnderIssuers: Schema =
        "The issuers under which a user of this name is known, if the user is unknown. An empty text stands for none."

    /// The fields in the schema of an answer that may have them.
    package static let fields: KeyValuePairs<String, Schema> = [
        "isUserUnknown": Schema.flag().noted(isUserUnknown).optional,
        "knownUnderIssuers": Schema.array(of: .text()).noted(knownUnderIssuers).optional,
    ]

    package let isUserUnknown: Bool
    package let knownUnderIssuers: [String]

    package init(knownUnder issuers: [String]) {
        isUserUnknown = true
        knownUnderIssuers = issuers
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isUserUnknown = try container.decode(Bool.self, forKey: .isUserUnknown)
        knownUnderIssuers = try container.decodeIfPresent([String].self, forKey: .knownUnderIssuers) ?? []
    }

    /// An answer with this statement.
    ///
    /// - Parameter answer: The JSON of an object with a member.
    package func json(beside answer: [UInt8]) throws -> [UInt8] {
        try json().dropLast() + Array(",".utf8) + answer.dropFirst()
    }

    /// The statement for people.
    ///
    /// - Parameters:
    ///   - user: The user as the caller named it.
    ///   - option: The option that names an issuer; nil for a caller of the API.
    package func sentence(about user: User, option: String? = nil) -> String {
        let named = option ?? "the issuer"
        let unknown = "No user \"\(user.name)\"\(user.issuer.isEmpty ? "" : " of this issuer") is known"
        guard !knownUnderIssuers.contains("") else {
            return "\(unknown). Leave out \(named) for the back end's own user of this name."
        }
        let meant = ([named] + (knownUnderIssuers.isEmpty ? [] : [knownUnderIssuers.joined(separator: " or ")]))
            .joined(separator: " ")
        if user.issuer.isEmpty { return "\(unknown); did you forget \(meant)?" }
        return unknown + (knownUnderIssuers.isEmpty ? "." : "; did you mean \(meant)?")
    }
}

extension Ledger {
    /// The statement about a user whom the ledger does not know; nil for a known one.
    ///
    /// - Parameter namesIssuers: True to name the other issuers of users of this name.
    package func unknownUser(_ user: User, namingIssuers namesIssuers: Bool = true) async throws -> UnknownUser? {
        try await read { transaction in
            guard try transaction.users.known(user) == nil else { return nil }
            return UnknownUser(
                knownUnder: namesIssuers ? try transaction.users.issuers(ofName: user.name) : [])
        }
    }
}
