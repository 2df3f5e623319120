import AppStore
import ArgumentParser
import Proofs

/// The option that names the issuer of a user.
struct IssuerOption: ParsableArguments {
    @Option(help: "The issuer of the user: customer for the ids of apps (default: the back end names the user).")
    var issuer: String?

    func validate() throws { try Self.validate(issuer) }

    /// - Throws: `ValidationError` for the empty issuer, which names the users of the back end.
    static func validate(_ issuer: String?) throws {
        guard issuer?.isEmpty != true else {
            throw ValidationError("--issuer cannot be empty. Leave it out for a user of the back end.")
        }
    }

    /// The path of a user's resource.
    ///
    /// - Parameters:
    ///   - resource: The path below that of the user, such as `/grants`.
    ///   - query: The other parameters, such as `limit=9`.
    func path(of user: User, _ resource: String, query: String...) -> String {
        let parameters = query + (issuer.map { ["issuer=" + HTTPServiceConnection.segment($0)] } ?? [])
        return HTTPServiceConnection.path(of: user) + resource
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }
}
