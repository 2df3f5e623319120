/// The expectations about an authentic proof.
public struct ProofExpectations: Sendable {
    /// An app that a proof may be for.
    public struct App: Hashable, Sendable {
        public let bundleIdentifier: String
        /// The app's Apple ID, which production notifications and app transactions state. Nil accepts any.
        public let appAppleIdentifier: Int64?

        public init(bundleIdentifier: String, appAppleIdentifier: Int64? = nil) {
            self.bundleIdentifier = bundleIdentifier
            self.appAppleIdentifier = appAppleIdentifier
        }
    }

    /// The apps that the proof may be for. Nil accepts any.
    public var apps: [App]?
    /// The environment that the proof must come from. Nil accepts any.
    public var environment: AppStoreEnvironment?
    public var origins: Set<Origin>
    /// The device that an app receipt must be issued for: 16 bytes of `identifierForVendor`, or the 6 bytes of a Mac's
    /// network address. Nil accepts any device. Other proofs do not identify a device.
    public var deviceIdentifier: [UInt8]?

    /// The expectations of one app.
    ///
    /// - Parameter bundleIdentifier: The bundle identifier, or nil for any app.
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
                "The proof is from \(foundEnvironment.rawValue), but \(environment.rawValue) was expected.")
        }
        guard origins.contains(origin) else {
            let accepted = origins.map(\.rawValue).sorted().joined(separator: ", ")
            throw ProofRefusal(
                .originNotAccepted, "The proof is from \(origin.rawValue); the accepted origins are \(accepted).")
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
                .bundleIdentifierMismatch,
                "The proof names \"\(bundleIdentifier.prefix(155))\", but \(expected) was expected.")
        }
        // Only production proofs state the Apple ID.
        guard let expected = app.appAppleIdentifier, case .possible(let number) = stated,
            number != nil || environment == .production
        else { return }
        guard number == expected else {
            throw ProofRefusal(
                .bundleIdentifierMismatch,
                number.map { "Its appAppleId is \($0), but \(expected) was expected." }
                    ?? "Its appAppleId is missing, but \(expected) was expected.")
        }
    }
}

/// The app's Apple ID in a payload.
enum StatedAppAppleIdentifier {
    /// The kind of payload has no such field.
    case never
    /// The value of the field, or nil if the field is missing.
    case possible(Int64?)

    init(in content: VerifiedProof.Content) {
        self =
            switch content {
            case .notification(let notification): .possible(notification.appAppleId)
            case .appTransaction(let appTransaction): .possible(appTransaction.appAppleId)
            case .appReceipt, .transaction, .renewalInfo, .signedPurchase: .never
            }
    }
}

/// The form of a proof, detected from its bytes.
enum ProofForm {
    /// An app receipt, as the bytes of its container.
    case appReceipt([UInt8])
    /// A JWS in compact form.
    case signedJSON([UInt8])
    /// A signed purchase of Google Play.
    case signedPurchase(SignedPurchase)

    /// Detects the form of a proof, or of the proof inside a receipt of Unity.
    ///
    /// - Throws: `ProofRefusal.Reason.encodingInvalid` if the proof is neither DER, nor DER in base64, nor a JWS;
    ///   `serviceAccountMissing` for a purchase token, which has no signature.
    init(of proof: [UInt8]) throws(ProofRefusal) {
        if let purchase = try SignedPurchase(json: proof) {
            self = .signedPurchase(purchase)
        } else if try GooglePlayToken(json: proof) != nil {
            throw ProofRefusal(.serviceAccountMissing)
        } else if let receipt = try UnityReceipt(proof) {
            try self.init(ofBare: receipt.proof)
        } else {
            try self.init(ofBare: proof)
        }
    }

    private init(ofBare proof: [UInt8]) throws(ProofRefusal) {
        guard !proof.isEmpty else { throw ProofRefusal(.encodingInvalid, "The proof is empty.") }
        let sequenceTag: UInt8 = 0x30
        if proof.first == sequenceTag {
            self = .appReceipt(proof)
        } else if proof.lastIndex(of: UInt8(ascii: ".")) != nil {
            self = .signedJSON(proof)
        } else if let container = Base64.decode(proof), container.first == sequenceTag {
            self = .appReceipt(container)
        } else {
            throw ProofRefusal(.encodingInvalid)
        }
    }
}
