/// The origins whose proofs a service accepts, for everybody and for single users.
///
/// Purchases in a sandbox cost nothing, so a service that sells accepts no sandbox. App Review buys in the sandbox of the app
/// that sells: its accounts are the sandbox users. An origin is accepted for a user on every path, or on none.
public struct AcceptedOrigins: Hashable, Sendable {
    /// The origins that everybody's purchases may come from.
    public let origins: Set<Origin>
    /// The users whose purchases may come from the sandbox beside it, too.
    public let sandboxUsers: Set<User>

    public init(_ origins: Set<Origin> = Origin.defaultAccepted, sandboxUsers: Set<User> = []) {
        self.origins = origins
        self.sandboxUsers = sandboxUsers
    }

    /// The origins that count for some user.
    public var all: Set<Origin> { sandboxUsers.isEmpty ? origins : origins.union(sandboxes) }

    /// The origins that count for a user.
    public func counting(for user: User) -> Set<Origin> {
        sandboxUsers.contains(user) ? origins.union(sandboxes) : origins
    }

    private var sandboxes: [Origin] {
        origins.compactMap { origin in
            switch origin {
            case .appleProduction: .appleSandbox
            case .localProduction: .localSandbox
            case .appleSandbox, .localSandbox, .xcode: nil
            }
        }
    }
}
