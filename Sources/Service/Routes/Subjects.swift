import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Vocabulary

/// The users of requests: the app's own user, or the user that a back end names in the path.
struct Subjects: Sendable {
    /// The issuers whose users a back end may name: those of accepted tokens, and that of apps' customers. Nil for all issuers.
    let issuers: [String]?
    let idempotentRequests: IdempotentRequests

    /// The user of a request.
    ///
    /// - Parameter ofAnyIssuer: True if the issuer may no longer be accepted, to export or erase the user's data.
    func user(
        _ request: Request,
        _ context: ServiceContext,
        ofAnyIssuer: Bool = false
    ) throws -> User {
        if case .app(let user, _) = context.caller { return user }
        let name = try context.parameters.require("user")
        let issuer = try request.query("issuer")
        guard accepts(issuer) || ofAnyIssuer && issuer?.isEmpty == false else {
            throw Problem.parameter(
                "issuer",
                "left out, or the issuer whose tokens the service accepts (jwt-issuer), till for accounts, or customer for the ids of apps"
            )
        }
        // An empty name leaves two slashes, which the router treats as one. Proxies remove "." and "..".
        let path = request.path.utf8
        let isMissing = zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: "/") }
        let decoded = name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding : name
        guard !isMissing, let text = decoded, text != ".", text != "..",
            let user = User(issuer: issuer ?? "", name: text)
        else {
            throw Problem.userInvalid
        }
        return user
    }

    /// The note beside an empty answer that the ledger does not know the user; nil for a known user.
    ///
    /// Users belong to no app, so a key for one app learns no issuers. Apps name no users.
    func unknown(_ user: User, to context: ServiceContext, in ledger: Ledger) async throws -> UnknownUser? {
        guard case .backEnd(_, _, let app) = context.caller else { return nil }
        return try await ledger.unknownUser(user, namingIssuers: app == nil)
    }

    /// The refusal of a request about a user whom the ledger does not know.
    func notFound(_ user: User, by context: ServiceContext, in ledger: Ledger) async throws -> Problem {
        guard let unknown = try await unknown(user, to: context, in: ledger) else { return .userNotFound }
        return Problem(LedgerError.userUnknown.rule.stating(unknown.sentence(about: user)))
    }

    /// Changes what a user has. The refusal says if the ledger does not know the user at all.
    func changing<Value>(
        _ user: User, _ context: ServiceContext, in ledger: Ledger, _ change: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await change()
        } catch let error as GrantError where [.grantNotFound, .transactionNotFound].contains(error) {
            guard let unknown = try await unknown(user, to: context, in: ledger) else { throw error }
            throw Problem(error.rule.stating("\(error.rule.sentence) \(unknown.sentence(about: user))"))
        }
    }

    /// The user that the parameters `user` and `issuer` of a list name; nil without them.
    func user(namedInQueryOf request: Request) throws -> User? {
        let issuer = try request.query("issuer")
        guard let name = try request.query("user", upTo: User.maximumCustomerLength) else { return nil }
        guard accepts(issuer) else {
            throw Problem.parameter("issuer", "left out, or an issuer that the service accepts")
        }
        guard let user = User(issuer: issuer ?? "", name: name) else { throw Problem.userInvalid }
        return user
    }

    /// - Parameter issuer: Nil for a user of the back end.
    private func accepts(_ issuer: String?) -> Bool {
        guard let issuer else { return true }
        // A tombstone is no user.
        guard let issuers else { return !issuer.isEmpty && issuer != User.erasedIssuer }
        return issuers.contains { $0.hasSameBytes(as: issuer) }
    }

    /// The user that the fields `user` and `issuer` of a request's body name.
    func user(namedIn body: JSONBody) throws -> User {
        var issuer: String?
        if case .text(let text) = try body.optionalText("issuer") { issuer = text }
        let name = try body.text("user", upTo: User.maximumCustomerLength)
        guard accepts(issuer) else {
            throw JSONBody.invalid("The field /issuer must be left out, or be an issuer that the service accepts.")
        }
        guard let user = User(issuer: issuer ?? "", name: name) else { throw Problem.userInvalid }
        return user
    }
}

extension Problem {
    fileprivate static let userInvalid = Problem(
        status: .badRequest, code: "userInvalid",
        detail:
            "A user's name has 1 to \(User.maximumLength) bytes (a customer's of an app: \(User.maximumCustomerLength)), without spaces or control characters."
    )
}

/// The purchase that a request names: a transaction in the path, with `?origin=` and `?app=` if several share the identifier.
struct NamedPurchase: Sendable {
    let identifier: String
    /// Nil if the request names none.
    let origin: Origin?
    /// The bundle identifier; nil if the request names none.
    let app: String?

    init(_ request: Request, _ context: ServiceContext) throws {
        identifier = try context.parameters.text("transaction")
        origin = try request.query("origin")
        app = try RequestedApps.name(of: request, context)
    }
}

extension EntitlementService {
    /// The service as far as the caller of a request sees and changes it.
    func limited(to context: ServiceContext) -> EntitlementService { limited(to: context.caller?.limitingApp) }
}

extension Ledger {
    /// The largest number of blocked users that are counted.
    private static let maximumCounted = 1000
    private static let maximumListed = 20

    /// The task that warns at the start about users whose names stand for no user. Apps can no longer reach them.
    package func blockedUserWarning(logger: Logger) -> Companion {
        Companion.untilShutdown({
            do {
                let users = try await read(.longSnapshot) { try $0.blockedUsers(limit: Self.maximumCounted) }
                if !users.isEmpty { logger.warning(Self.message(about: users)) }
            } catch {
                guard !Task.isCancelled else { return }
                logger.error(
                    "users with blocked names could not be counted", metadata: ["code": "\(Problem.code(of: error))"])
            }
        })
    }

    private static func message(about users: [User]) -> Logger.Message {
        let names = users.prefix(maximumListed).map { user in
            "\"\(CustomerIdentifier(user)?.text ?? user.name)\"" + (user.issuer.isEmpty ? "" : " (\(user.issuer))")
        }
        let others = users.count > maximumListed ? " and others" : ""
        let count = users.count == maximumCounted ? "\(maximumCounted) or more" : "\(users.count)"
        return """
            users with a name that stands for no user: \(count). Nothing is written for them any more: \
            \(names.joined(separator: ", "))\(others). Export or erase them.
            """
    }
}
