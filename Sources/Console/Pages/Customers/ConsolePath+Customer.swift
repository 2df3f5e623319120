import Features
import HTTPSupport
import Hummingbird
import Proofs

extension ConsolePath {
    /// The address of a customer's page, or of a page below it: `/console/customers/ISSUER/NAME`.
    ///
    /// The issuer of the team's own back end is empty, and its segment is `-`.
    static func customer(
        _ user: User, _ segments: String..., query: KeyValuePairs<String, String?> = [:], done notice: Notice? = nil
    ) -> ConsolePath {
        ConsolePath(
            ["customers", segment(user.issuer), segment(user.name)] + segments, query: query.map { ($0, $1) },
            done: notice)
    }

    /// The user of the path's parameters `issuer` and `user`.
    ///
    /// - Throws: `Problem`, `userNotFound`.
    static func customer(_ parameters: Parameters) throws -> User {
        guard
            let user = User(
                issuer: text(ofSegment: try parameters.text("issuer")),
                name: text(ofSegment: try parameters.text("user", upTo: User.maximumCustomerLength + 1))),
            user.issuer != User.erasedIssuer
        else { throw Problem.userNotFound }
        return user
    }

    /// An empty segment would vanish, and browsers resolve `.` and `..`. Such a text gets a hyphen, and so does one that looks
    /// like the result.
    private static func segment(_ text: String) -> String { needsHyphen(text) ? "-" + text : text }

    private static func text(ofSegment segment: String) -> String {
        segment.hasPrefix("-") && needsHyphen(segment) ? String(segment.dropFirst()) : segment
    }

    private static func needsHyphen(_ text: String) -> Bool { ["", ".", ".."].contains(text.drop { $0 == "-" }) }
}

extension ConsoleServices {
    /// The user of the path, whom the ledger knows.
    ///
    /// - Throws: `Problem`, `userNotFound`.
    func knownCustomer(_ context: ConsoleContext) async throws -> KnownUser {
        let user = try ConsolePath.customer(context.parameters)
        guard let known = try await entitlements.ledger.read(.snapshot, { try $0.customer(user) }) else {
            throw Problem.userNotFound
        }
        return known
    }

    func customer(_ context: ConsoleContext) async throws -> User { try await knownCustomer(context).user }
}
