import Signatures

/// The refusal that each fault of a container means.
extension ProofRefusal {
    init(_ error: SignedDataError) {
        switch error {
        case .malformed: self.init(.containerInvalid, "It is no PKCS#7 SignedData.")
        case .contentMissing: self.init(.containerInvalid, "It holds no content.")
        case .certificateCount: self.init(.tooManyCertificates)
        case .signerCount(0): self.init(.containerInvalid, "It has no signer.")
        case .signerCount: self.init(.containerInvalid, "It has more than one signer.")
        case .signedAttributes: self.init(.containerInvalid, "It has signed attributes.")
        case .algorithm: self.init(.algorithmNotAllowed)
        }
    }

    init(_ error: SignedJSONError) {
        switch error {
        case .segmentCount: self.init(.encodingInvalid)
        case .base64: self.init(.encodingInvalid, "A segment of the JWS is not base64url without padding.")
        case .header(let reason): self.init(.containerInvalid, "Of the JWS header, \(reason).")
        case .algorithm: self.init(.algorithmNotAllowed, "Only ES256 is.")
        case .certificates: self.init(.signerCertificateMissing)
        }
    }
}
