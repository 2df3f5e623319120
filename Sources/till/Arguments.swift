import AppStore
import ArgumentParser
import Proofs

extension User: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }
}

extension PaymentOutcome: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(name: argument)
    }
}

extension AppStoreEnvironment: ExpressibleByArgument {
    /// Proofs of the environment LocalTesting have no trusted signature, so they cannot be verified.
    public init?(argument: String) {
        guard let environment = Self(rawValue: argument), environment != .localTesting else { return nil }
        self = environment
    }

    public static var allValueStrings: [String] { allCases.filter { $0 != .localTesting }.map(\.rawValue) }
}
