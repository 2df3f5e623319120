import HTTPSupport
import Ledger
import Logging
import Proofs
import ServiceLifecycle

extension Ledger {
    /// The largest number of blocked users that are counted.
    private static let maximumCounted = 1000
    private static let maximumListed = 20

    /// The task that warns at the start about users whose names stand for no user. Apps can no longer reach them.
    package func blockedUserWarning(logger: Logger) -> Companion {
        Companion {
            do {
                let users = try await read(.longSnapshot) { try $0.blockedUsers(limit: Self.maximumCounted) }
                if !users.isEmpty { logger.warning(Self.message(about: users)) }
            } catch {
                logger.warning(
                    "users with blocked names could not be counted", metadata: ["code": "\(Problem.code(of: error))"])
            }
            try? await gracefulShutdown()
        }
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
