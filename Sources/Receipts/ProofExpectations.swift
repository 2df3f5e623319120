import Commerce
import StrictJSON

/// The expectations about a proof beyond its being authentic.
public struct ProofExpectations: Sendable {
    /// An app that a proof may be for.
    public struct App: Hashable, Sendable {
        public let bundleIdentifier: String
        /// The number of the app in the App Store, which notifications and app transactions of production state; nil for any.
        public let appAppleIdentifier: Int64?

        public init(bundleIdentifier: String, appAppleIdentifier: Int64? = nil) {
            self.bundleIdentifier = bundleIdentifier
            self.appAppleIdentifier = appAppleIdentifier
        }
    }

    /// The apps that the proof may be for; nil for any.
    public var apps: [App]?
    /// The environment it has to come from; nil for any.
    public var environment: AppStoreEnvironment?
    /// The origins accepted.
    public var origins: Set<Origin>
    /// The device an app receipt has to be made for: 16 bytes of `identifierForVendor`, or the 6 of a Mac's network address;
    /// nil for any. Other proofs name no device that could be checked here.
    public var deviceIdentifier: [UInt8]?

    /// The expectations of one app.
    ///
    /// - Parameter bundleIdentifier: Nil for any app.
    public init(
        bundleIdentifier: String? = nil,
        environment: AppStoreEnvironment? = nil,
        origins: Set<Origin> = Origin.defaultAccepted,
        deviceIdentifier: [UInt8]? = nil
    ) {
        apps = bundleIdentifier.map { [App(bundleIdentifier: $0)] }
        self.environment = environment
        self.origins = origins
        self.deviceIdentifier = deviceIdentifier
    }

    /// The expectations of a service that sells one or several apps.
    public init(apps: [App], origins: Set<Origin>) {
        self.apps = apps
        self.origins = origins
    }

    func check(
        app found: (bundleIdentifier: String?, appAppleIdentifier: StatedAppAppleIdentifier),
        environment foundEnvironment: AppStoreEnvironment,
        origin: Origin
    ) throws(ProofRefusal) {
        try check(bundleIdentifier: found.bundleIdentifier, found.appAppleIdentifier, foundEnvironment)
        if let environment, environment != foundEnvironment {
            throw ProofRefusal(
                .environmentMismatch,
                "It comes from \(foundEnvironment.rawValue); \(environment.rawValue) was expected.")
        }
        guard origins.contains(origin) else {
            let accepted = origins.map(\.rawValue).sorted().joined(separator: ", ")
            throw ProofRefusal(.originNotAccepted, "It comes from \(origin.rawValue); accepted: \(accepted).")
        }
    }

    private func check(
        bundleIdentifier: String?,
        _ stated: StatedAppAppleIdentifier,
        _ environment: AppStoreEnvironment
    ) throws(ProofRefusal) {
        guard let bundleIdentifier, let apps else { return }
        guard let app = apps.first(where: { $0.bundleIdentifier.hasSameBytes(as: bundleIdentifier) }) else {
            let expected = apps.map(\.bundleIdentifier).joined(separator: " or ")
            throw ProofRefusal(
                .bundleIdentifierMismatch, "It names \(bundleIdentifier.prefix(155)); \(expected) was expected.")
        }
        // Only proofs of production state the number.
        guard let expected = app.appAppleIdentifier, case .possible(let number) = stated,
            number != nil || environment == .production
        else { return }
        guard number == expected else {
            throw ProofRefusal(
                .bundleIdentifierMismatch,
                "Its appAppleId is \(number.map(String.init) ?? "missing"); \(expected) was expected.")
        }
    }
}
