import Commerce

/// Why a proof is refused: one reason out of a closed list.
public struct ProofRefusal: CodedError, Equatable {
    public let reason: Reason
    /// What was found, where that helps; never a secret or the proof's own bytes.
    public let detail: String?

    public init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    public var code: String { reason.rawValue }

    public var message: String {
        detail.map { "\(reason.sentence) \($0)" } ?? reason.sentence
    }

    /// The steps of a check, in the order they are taken; each looks only at what those before it have let through.
    public enum Step: String, Sendable, CaseIterable, Encodable {
        case size, encoding, container, chain, extensions, signature, payload, appAndOrigin, revocation
    }

    /// The reasons, whose names are the codes programs see.
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
        case appleExtensionMissing
        case signatureInvalid
        case payloadInvalid
        case tooManyPurchases
        case innerProofInvalid
        case signedInFuture
        case deviceMismatch
        case bundleIdentifierMismatch
        case environmentMismatch
        case originNotAccepted
        case certificateRevoked
        case revocationUnavailable

        /// The step at which this refusal falls.
        public var step: Step {
            switch self {
            case .tooLarge: .size
            case .encodingInvalid: .encoding
            case .containerInvalid, .tooManyCertificates, .algorithmNotAllowed, .signerCertificateMissing: .container
            case .chainUntrusted, .chainOutsideValidity, .chainShape: .chain
            case .appleExtensionMissing: .extensions
            case .signatureInvalid: .signature
            case .payloadInvalid, .tooManyPurchases, .innerProofInvalid, .signedInFuture, .deviceMismatch: .payload
            case .bundleIdentifierMismatch, .environmentMismatch, .originNotAccepted: .appAndOrigin
            case .certificateRevoked, .revocationUnavailable: .revocation
            }
        }

        /// Whether the same proof could be accepted later without anybody changing it.
        public var couldSucceedLater: Bool { self == .signedInFuture || self == .revocationUnavailable }

        var sentence: String {
            switch self {
            case .tooLarge:
                "The proof is larger than any that Apple signs; send the receipt or the signed transaction alone."
            case .encodingInvalid:
                "This is neither an app receipt (base64 or DER) nor a signed transaction (JWS); send it unchanged."
            case .containerInvalid: "The proof is not built as Apple builds it; send it unchanged and whole."
            case .tooManyCertificates: "The proof brings more certificates than a chain of Apple's has."
            case .algorithmNotAllowed: "The proof is signed with an algorithm that Apple does not use."
            case .signerCertificateMissing: "The certificate of the proof's signer is not enclosed or cannot be read."
            case .chainUntrusted:
                "The proof's certificates do not lead to a root that is trusted here; if they should, add the root."
            case .chainOutsideValidity: "A certificate of the proof was not valid when the proof was signed."
            case .chainShape: "The proof's certificates are not a chain of leaf, intermediate and root as Apple's are."
            case .appleExtensionMissing:
                "The proof's certificates are not marked for signing receipts, though their root is trusted."
            case .signatureInvalid: "The signature does not match the content: it was changed after it was signed."
            case .payloadInvalid: "The signature holds, but the signed content is not what Apple's format asks for."
            case .tooManyPurchases: "The receipt holds more purchases than are read."
            case .innerProofInvalid: "A proof inside the notification does not hold as the notification does."
            case .signedInFuture: "The proof was signed in the future; check the clocks and try again."
            case .deviceMismatch: "The receipt was made for another device."
            case .bundleIdentifierMismatch: "The proof is for another app."
            case .environmentMismatch: "The proof is from another store environment."
            case .originNotAccepted: "Proofs of this origin are not accepted here."
            case .certificateRevoked: "A certificate of the proof was revoked by its authority."
            case .revocationUnavailable:
                "Whether a certificate of the proof was revoked could not be learned; it may hold, so try again later."
            }
        }
    }
}
