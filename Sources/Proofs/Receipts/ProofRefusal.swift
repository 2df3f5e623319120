/// A refused proof, with one reason from a closed list.
public struct ProofRefusal: CodedError, Equatable {
    public let reason: Reason
    /// The finding, if it helps the reader. Never a secret or the proof's own bytes.
    public let detail: String?
    /// True if the unchanged proof could be accepted later.
    public let couldSucceedLater: Bool

    public init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
        couldSucceedLater = reason.couldSucceedLater
    }

    /// The refusal of a purchase token whose payment is pending. The token stays the same, unlike a signed purchase.
    package static let tokenPending = ProofRefusal(pending: nil)

    /// The same of a pre-order.
    static func preorder(until release: Timestamp) -> ProofRefusal {
        ProofRefusal(pending: "It is a pre-order, which Google Play charges at its release, \(release.rfc3339).")
    }

    private init(pending detail: String?) {
        (reason, self.detail, couldSucceedLater) = (.purchasePending, detail, true)
    }

    /// The refusal of a payload that is not strict JSON.
    init(_ error: JSONSyntaxError) {
        self.init(.payloadInvalid, "In its JSON, \(error.message).")
    }

    public var code: String { reason.rawValue }

    public var message: String { detail.map { "\(reason.sentence) \($0)" } ?? reason.sentence }

    /// The steps of the verification, in their order. Each step relies on the success of the earlier ones.
    public enum Step: String, Sendable, CaseIterable, Encodable {
        case size, encoding, container, chain, extensions, signature, payload, appAndOrigin, revocation
    }

    /// The reasons. Their names are the error codes.
    public enum Reason: String, Sendable, CaseIterable {
        case tooLarge
        case encodingInvalid
        case containerInvalid
        case tooManyCertificates
        case algorithmNotAllowed
        case signerCertificateMissing
        case chainUntrusted
        case chainOutsideValidity
        case chainShape
        case appKeyMissing
        case serviceAccountMissing
        case appleExtensionMissing
        case staticTestPurchase
        case signatureInvalid
        case payloadInvalid
        case purchaseFormRetired
        case purchasePending
        case purchaseKindUnsupported
        case tooManyPurchases
        case innerProofInvalid
        case signedInFuture
        case deviceMismatch
        case bundleIdentifierMismatch
        case environmentMismatch
        case originNotAccepted
        case purchaseConsumed
        case certificateRevoked
        case revocationUnavailable

        public var step: Step {
            switch self {
            case .tooLarge: .size
            case .encodingInvalid: .encoding
            case .containerInvalid, .tooManyCertificates, .algorithmNotAllowed, .signerCertificateMissing: .container
            case .chainUntrusted, .chainOutsideValidity, .chainShape, .appKeyMissing, .serviceAccountMissing:
                .chain
            case .appleExtensionMissing: .extensions
            case .signatureInvalid, .staticTestPurchase: .signature
            case .payloadInvalid, .tooManyPurchases, .innerProofInvalid, .signedInFuture, .deviceMismatch,
                .purchaseFormRetired, .purchasePending, .purchaseKindUnsupported:
                .payload
            case .bundleIdentifierMismatch, .environmentMismatch, .originNotAccepted, .purchaseConsumed: .appAndOrigin
            case .certificateRevoked, .revocationUnavailable: .revocation
            }
        }

        /// True if an unchanged proof could be accepted later.
        public var couldSucceedLater: Bool { self == .signedInFuture || self == .revocationUnavailable }

        /// The sentence for the sender of the proof: what is wrong, then what to do.
        package var sentence: String {
            switch self {
            case .tooLarge:
                "The proof is larger than any that a store signs. Send only the receipt, the signed transaction or the signed "
                    + "purchase."
            case .encodingInvalid:
                "The proof is neither an app receipt (base64 or DER) nor a signed transaction (JWS). Send it unchanged."
            case .containerInvalid:
                "The proof does not have Apple's structure. Send it complete and unchanged."
            case .tooManyCertificates:
                "The proof has more certificates than a chain of Apple's. Send it unchanged."
            case .algorithmNotAllowed:
                "The proof is signed with an algorithm that Apple does not use."
            case .signerCertificateMissing:
                "The certificate of the proof's signer is missing or unreadable. Send the proof unchanged."
            case .chainUntrusted:
                "The proof's certificates do not lead to a trusted root."
            case .chainOutsideValidity:
                "A certificate of the proof was not valid when the proof was signed."
            case .chainShape:
                "The proof's certificates must be a chain of leaf, intermediate and root, as Apple's are."
            case .appKeyMissing:
                "No public key of an app on Google Play is known, under which the purchase could be verified."
            case .serviceAccountMissing:
                "The proof is a purchase token of Google Play. It is not signed: only Google Play can say what was bought, and the "
                    + "service has no service account with which it could ask."
            case .appleExtensionMissing:
                "The proof's root is trusted, but its certificates lack Apple's extensions for signing receipts."
            case .staticTestPurchase:
                "The purchase is not signed: Google Play signs no static test product such as android.test.purchased. Test with a "
                    + "real product and a license tester."
            case .signatureInvalid:
                "The signature does not match the content: it was changed after it was signed."
            case .payloadInvalid:
                "The signature is valid, but the signed content does not have the store's format."
            case .purchaseFormRetired:
                "The purchase has the form of In-app Billing 1 and 2 (`orders`), which Google has retired. Send a purchase of the Play "
                    + "Billing Library."
            case .purchasePending:
                "The customer has not paid the purchase yet. Send it again when Google Play reports it as purchased."
            case .purchaseKindUnsupported:
                "The purchase is a rental, and Google Play does not say how long it lasts: the catalog of the app has no such purchase "
                    + "option to rent, or the service account may not see it."
            case .tooManyPurchases:
                "The receipt has too many purchases."
            case .innerProofInvalid:
                "A proof inside the notification is invalid or does not match the notification."
            case .signedInFuture:
                "The proof was signed in the future. Check the clocks and try again."
            case .deviceMismatch:
                "The receipt was made for another device."
            case .bundleIdentifierMismatch:
                "The proof is for another app."
            case .environmentMismatch:
                "The proof is from another store environment."
            case .originNotAccepted:
                "The service does not accept proofs of this origin."
            case .purchaseConsumed:
                "The purchase was consumed before its first redemption, and bought while an earlier back end delivered. Finish it: "
                    + "nothing more is granted."
            case .certificateRevoked:
                "A certificate of the proof was revoked by its authority."
            case .revocationUnavailable:
                "The revocation status of a certificate is unavailable. The proof may be valid; try again later."
            }
        }
    }
}
