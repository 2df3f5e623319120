import Commerce

/// Whose proofs a service accepts, and for whom they count.
///
/// What is bought in a sandbox costs nothing, so a service that sells accepts no sandbox; but App Review buys in the sandbox of
/// the app that sells. The accounts it is given are listed here.
public struct AcceptedOrigins: Hashable, Sendable {
    /// Those of everybody.
    public let origins: Set<Origin>
    /// Who may buy in the sandbox beside it.
    public let sandboxUsers: Set<User>

    public init(_ origins: Set<Origin> = Origin.defaultAccepted, sandboxUsers: Set<User> = []) {
        self.origins = origins
        self.sandboxUsers = sandboxUsers
    }

    /// Those that count for somebody.
    public var all: Set<Origin> { sandboxUsers.isEmpty ? origins : origins.union(sandboxes) }

    /// Those that count for a user.
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
