import Features
import Proofs

/// The answer to a verification.
package struct IAPKitAnswer: Hashable, Sendable {
    package let state: IAPKitState
    /// The signed product; nil for a proof that the App Store has not signed.
    package let productIdentifier: String?
    package let environment: AppStoreEnvironment?

    /// The answer for a proof that the App Store has not signed.
    package static let unsigned = IAPKitAnswer(state: .inauthentic, productIdentifier: nil, environment: nil)

    private init(state: IAPKitState, productIdentifier: String?, environment: AppStoreEnvironment?) {
        self.state = state
        self.productIdentifier = productIdentifier
        self.environment = environment
    }

    /// - Parameter expected: The product that the app expects; nil for any.
    package init(_ purchase: VerifiedPurchase, expecting expected: String?, at moment: Timestamp) {
        let isExpected = expected?.hasSameBytes(as: purchase.productIdentifier) ?? true
        self.init(
            state: isExpected ? IAPKitState(of: purchase, at: moment) : .inauthentic,
            productIdentifier: purchase.productIdentifier, environment: purchase.environment)
    }

    /// True if the refusal means that the App Store has not signed the proof. Other refusals are errors: after a correction of
    /// the settings or at a later time, a genuine proof may pass.
    package static func isUnsigned(_ reason: ProofRefusal.Reason) -> Bool {
        switch reason {
        case .containerInvalid, .tooManyCertificates, .algorithmNotAllowed, .signerCertificateMissing, .chainShape,
            .appleExtensionMissing, .signatureInvalid:
            true
        case .tooLarge, .encodingInvalid, .chainUntrusted, .chainOutsideValidity, .payloadInvalid, .tooManyPurchases,
            .innerProofInvalid,
            .signedInFuture, .deviceMismatch, .bundleIdentifierMismatch, .environmentMismatch, .originNotAccepted,
            .certificateRevoked, .revocationUnavailable:
            false
        }
    }

    package var json: JSONValue {
        var object: JSONObject = [
            "store": "apple", "isValid": .bool(state.isValid), "state": .string(state.rawValue),
        ]
        if let productIdentifier { _ = object.add("productId", .string(productIdentifier)) }
        // Some clients refuse an answer with another environment.
        if let environment, environment == .production || environment == .sandbox {
            _ = object.add("environment", .string(environment.rawValue))
        }
        return .object(object)
    }
}
