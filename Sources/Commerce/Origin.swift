/// Who vouches for a proof and where it was bought.
///
/// The anchor that ends a proof's chain gives the first half, the signed content the second. One origin never stands in
/// for another: a service accepts the origins it is told to.
public enum Origin: String, Sendable, Codable, CaseIterable {
    case appleProduction = "apple/Production"
    case appleSandbox = "apple/Sandbox"
    case xcode = "xcode"
    case localProduction = "local/Production"
    case localSandbox = "local/Sandbox"

    /// - Returns: nil when the realm does not vouch for that environment, such as Xcode's certificate under a proof that
    ///   says Production.
    public init?(realm: Realm, environment: AppStoreEnvironment) {
        switch (realm, environment) {
        case (.apple, .production): self = .appleProduction
        case (.apple, .sandbox): self = .appleSandbox
        case (.xcode, .xcode): self = .xcode
        case (.local, .production): self = .localProduction
        case (.local, .sandbox): self = .localSandbox
        default: return nil
        }
    }

    /// What a service accepts unless it is told otherwise: proofs of a local store.
    public static let defaultAccepted: Set<Origin> = [.localProduction, .localSandbox]
}
