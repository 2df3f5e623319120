import Proofs

/// The origins whose proofs the service accepts, for all users and for single users.
///
/// Sandbox purchases cost nothing, so a service that sells does not accept the sandbox. App Review buys in the sandbox
/// of the sold app, so its accounts are the sandbox users. The service accepts an origin for a user on every path, or
/// on none.
public struct AcceptedOrigins: Hashable, Sendable {
    /// The origins that the service accepts for all users.
    public let origins: Set<Origin>
    /// The users for whom the service also accepts the corresponding sandbox.
    public let sandboxUsers: Set<User>

    public init(_ origins: Set<Origin> = Origin.defaultAccepted, sandboxUsers: Set<User> = []) {
        self.origins = origins
        self.sandboxUsers = sandboxUsers
    }

    /// The origins that the service accepts for at least one user.
    public var all: Set<Origin> { sandboxUsers.isEmpty ? origins : origins.union(sandboxes) }

    /// The origins that the service accepts for a user.
    public func origins(for user: User) -> Set<Origin> {
        sandboxUsers.contains(user) ? origins.union(sandboxes) : origins
    }

    private var sandboxes: [Origin] { origins.flatMap(\.sandboxes) }
}
