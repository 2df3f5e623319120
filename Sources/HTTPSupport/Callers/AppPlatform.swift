/// A platform on which an app runs with a public key.
package enum AppPlatform: String, Sendable, CaseIterable {
    case apple

    /// The prefix of the platform's public keys.
    var keyPrefix: String {
        switch self {
        case .apple: "appl_"
        }
    }

    /// The platform whose prefix a credential has; nil for another credential.
    init?(prefixOf credential: String) {
        guard let platform = Self.allCases.first(where: { credential.hasPrefix($0.keyPrefix) }) else { return nil }
        self = platform
    }
}
