import Commerce
import StrictJSON

/// What a verifier asks of a proof beyond its being authentic.
public struct ProofExpectations: Sendable {
    /// The app the proof has to be for; nil for any.
    public var bundleIdentifier: String?
    /// The environment it has to come from; nil for any.
    public var environment: AppStoreEnvironment?
    /// The origins accepted.
    public var origins: Set<Origin>
    /// The device an app receipt has to be made for: 16 bytes of `identifierForVendor`, or the 6 of a Mac's network address;
    /// nil for any. Other proofs name no device that could be checked here.
    public var deviceIdentifier: [UInt8]?

    public init(
        bundleIdentifier: String? = nil,
        environment: AppStoreEnvironment? = nil,
        origins: Set<Origin> = Origin.defaultAccepted,
        deviceIdentifier: [UInt8]? = nil
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.environment = environment
        self.origins = origins
        self.deviceIdentifier = deviceIdentifier
    }

    func check(
        bundleIdentifier found: String?,
        environment foundEnvironment: AppStoreEnvironment,
        origin: Origin
    ) throws(ProofRefusal) {
        if let found, let bundleIdentifier, !found.hasSameBytes(as: bundleIdentifier) {
            throw ProofRefusal(
                .bundleIdentifierMismatch, "It names \(found.prefix(155)); \(bundleIdentifier) was expected.")
        }
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
}
